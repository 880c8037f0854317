"""Golden cases of a layout model's snapshot, yours or a random one: `python -m export.layout SNAPSHOT IMAGE... --out DIR`.

transformers' PP-DocLayoutV3 runs on each image in float32 and in float64. DIR/IMAGE then holds every intermediate array
under the names of tests/golden/pp_doclayout, golden.json with tolerances from the difference of the two, and the
detections that transformers' post-processing gives. Compare with

    platen forward SNAPSHOT --image IMAGE --dump DUMP && tools/goldens/compare.py DUMP DIR/IMAGE
"""
import argparse
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import PPDocLayoutV3ForObjectDetection, PPDocLayoutV3ImageProcessor
from transformers.models.pp_doclayout_v3 import modeling_pp_doclayout_v3 as modeling

from .common import Case, error, tolerance

THRESHOLD = 0.3


def module_names(config):
    """Module path -> names of the arrays that are its output; the first call counts."""
    levels = len(config.feat_strides)
    names = {"model.backbone.model.embedder": ["stem"], "model.encoder.mask_feature_head": ["mask_head"],
             "model.encoder.encoder_mask_output": ["mask_features"], "model.enc_output": ["enc_output"],
             "model.mask_query_head": ["mask_queries"], f"model.encoder.fpn_blocks.{levels - 2}": ["fpn0", "pan0"]}
    for i in range(levels + 1):
        names[f"model.backbone.model.encoder.stages.{i}"] = [f"stage{i + 1}"]
    for i in range(levels):
        names[f"model.encoder_input_proj.{i}"] = [f"proj{i}"]
        names[f"model.decoder_input_proj.{i}"] = [f"level{i}"]
    for i in range(levels - 1):
        names[f"model.encoder.lateral_convs.{i}"] = [f"fpn{levels - 1 - i}"]
        names[f"model.encoder.pan_blocks.{i}"] = [f"pan{i + 1}"]
    for i, level in enumerate(config.encode_proj_layers):
        names[f"model.encoder.aifi.{i}"] = [f"aifi{level}"]
    for i in range(config.decoder_layers):
        layer = f"model.decoder.layers.{i}"
        names[layer] = [f"decoder{i}"]
        names[f"{layer}.self_attn_layer_norm"] = [f"decoder{i}_self"]
        names[f"{layer}.encoder_attn_layer_norm"] = [f"decoder{i}_cross"]
    return names


def run(model, pixels):
    """pixel_values [1,3,H,W] -> (arrays without batch dimension, the model's outputs)."""
    arrays, positions, hooks = {}, [], []

    def keep(names):
        def hook(_module, _inputs, output):
            value = (output[0] if isinstance(output, tuple) else output)[0]
            for name in names:
                arrays.setdefault(name, value.clone())
        return hook

    for path, names in module_names(model.config).items():
        hooks.append(model.get_submodule(path).register_forward_hook(keep(names)))
    head = model.model.decoder.query_pos_head
    hooks.append(head.register_forward_hook(lambda _m, _i, output: positions.append(output[0].clone())))
    try:
        outputs = model(pixel_values=pixels)
    finally:
        for hook in hooks:
            hook.remove()
    for i, position in enumerate(positions):
        arrays[f"query_pos{i}"] = position
    add_queries(model, arrays, outputs)
    return arrays, outputs


def add_queries(model, arrays, outputs):
    """What stands between encoder and decoder, and the results."""
    config = model.config
    maps = [arrays.pop(f"level{i}") for i in range(len(config.feat_strides))]
    arrays["memory"] = torch.cat([m.flatten(1).T for m in maps])
    sizes = tuple(tuple(m.shape[1:]) for m in maps)
    arrays["valid"] = model.model.generate_anchors(sizes, dtype=maps[0].dtype)[1][0, :, 0].to(torch.uint8)
    arrays["enc_logits"] = outputs.enc_outputs_class[0]
    arrays["enc_best"] = arrays["enc_logits"].max(-1).values
    arrays["topk"] = arrays["enc_best"].topk(config.num_queries).indices
    features = arrays["mask_features"]
    masks = (arrays["mask_queries"] @ features.flatten(1)).reshape(-1, *features.shape[1:])
    arrays["query_masks"] = masks
    arrays["mask_boxes"] = modeling.mask_to_box_coordinate(masks[None] > 0, dtype=masks.dtype)[0]
    arrays["init_reference"] = outputs.init_reference_points[0].sigmoid()
    for i in range(config.decoder_layers):
        arrays[f"reference{i}"] = outputs.intermediate_reference_points[0, i]
    arrays["logits"], arrays["boxes"] = outputs.logits[0], outputs.pred_boxes[0]
    arrays["order_logits"] = outputs.order_logits[0]
    upper = arrays["order_logits"].double().sigmoid().triu(1)
    votes = upper.sum(0) + (1 - upper.T).tril(-1).sum(0)
    arrays["order_votes"] = votes.to(maps[0].dtype)
    arrays["order_rank"] = votes.argsort(stable=True).argsort()


def detections(processor, outputs, size, labels):
    """transformers' post-processing, without the polygons, which need OpenCV."""
    processor._extract_polygon_points_by_masks = lambda boxes, _masks, _ratio: [None] * len(boxes)
    post = PPDocLayoutV3ImageProcessor.post_process_object_detection
    post = getattr(post, "__wrapped__", post)
    found = post(processor, outputs, threshold=THRESHOLD, target_sizes=torch.tensor([size[::-1]]))[0]
    rows = zip(found["scores"], found["labels"], found["boxes"])
    rows = [{"label": labels[int(label)], "score": float(score), "box": [float(v) for v in box]} for score, label, box in rows]
    # A query that is found twice has one place: the better score goes first, which transformers leaves open.
    boxes = [row["box"] for row in rows]
    return sorted(rows, key=lambda row: (boxes.index(row["box"]), -row["score"]))


def export(snapshot, image, out):
    """One case."""
    page = Image.open(image).convert("RGB")
    processor = PPDocLayoutV3ImageProcessor.from_pretrained(str(snapshot))
    pixels = processor(images=[page], return_tensors="pt")["pixel_values"]
    load = lambda: PPDocLayoutV3ForObjectDetection.from_pretrained(str(snapshot), attn_implementation="eager", dtype=torch.float32).eval()
    arrays, outputs = run(load(), pixels.float())
    exact, _ = run(load().double(), (pixels.double() * 255).round() / 255)
    case = Case(out, snapshot=str(snapshot), page=str(image), page_size=list(page.size), network_size=list(pixels.shape[2:]))
    resized = (pixels[0] * 255).round().to(torch.uint8).permute(1, 2, 0)
    case.add("resized", resized.contiguous())
    differs = []
    for name, value in arrays.items():
        if not value.is_floating_point():
            case.add(name, value)
            if not torch.equal(value, exact[name]):
                differs.append(name)
            continue
        known = value != -1e4  # below the diagonal of the order
        measured = error(value[known], exact[name][known])
        case.add(name, value, atol=tolerance(measured, float(value[known].abs().max())), error_f64=measured)
    labels = {int(k): v for k, v in load().config.id2label.items()}
    case.meta["detections"] = {"list": detections(processor, outputs, page.size, labels)}
    if differs:
        case.meta["undecided"] = differs
    case.save()
    return differs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("images", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    for image in args.images:
        differs = export(args.snapshot, image, args.out / image.stem)
        note = f"; float32 and float64 decide differently: {', '.join(differs)}" if differs else ""
        print(f"{args.out / image.stem}: written{note}")


if __name__ == "__main__":
    main()
