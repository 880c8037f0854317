"""What every engine is timed on; the same as in `platen bench model` (bench/model_bench.cc)."""
IMAGES = [(16, 16), (32, 32)]  # rows and columns of patches: 256 and 1024
PROMPTS = [64, 512]            # tokens
SEQUENCES = [1, 4, 8, 16, 32]
DECODE_PROMPT = 128            # tokens of each sequence before decoding
STEPS = 4                      # decoding steps timed together
