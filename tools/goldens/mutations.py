"""Mistakes a re-implementation of the model is likely to make, as small edits of the C++ sources.

Each entry: name -> (what is wrong, [(file, text to find, replacement), ...]). The text must occur
exactly once in the file; mutation_test.py says so when the sources have moved on.
"""

ELEMENTWISE = "model/kernels/generic/elementwise.h"

MUTATIONS = {
    "text_rope_half_split": ("text rotary pairs (d, d+half) instead of (2d, 2d+1)", [
        (ELEMENTWISE,
         """  for (int i = 0; i < n; i += 16) {
    const F32x16 v = LoadFirst(x + i, n - i);
    const F32x16 rotated = Mul(SwapPairs(v), LoadFirst(signed_sin + i, n - i));
    StoreFirst(Fma(v, LoadFirst(cos + i, n - i), rotated), x + i, n - i);
  }""",
         """  for (int i = 0; i < n / 2; ++i) {
    const float a = x[i], b = x[i + n / 2];
    x[i] = a * cos[2 * i] - b * signed_sin[2 * i + 1];
    x[i + n / 2] = b * cos[2 * i] + a * signed_sin[2 * i + 1];
  }""")]),
    "vision_rope_adjacent": ("vision rotary pairs (2d, 2d+1) instead of (d, d+half)", [
        (ELEMENTWISE,
         "  const int half = n / 2;\n",
         """  for (int i = 0; i < n / 2; ++i) {
    const float a = x[2 * i], b = x[2 * i + 1];
    x[2 * i] = a * cos[i] - b * sin[i];
    x[2 * i + 1] = b * cos[i] + a * sin[i];
  }
  const int half = 0;
""")]),
    "post_norm_after_add": ("post_* norms applied to the sum instead of to the branch", [
        ("model/ops/norm.cc",
         """    kernels.rms_norm(branch.Row(r), weight.data(), eps, n, branch.Row(r));
    kernels.add(branch.Row(r), static_cast<size_t>(n), x.Row(r));""",
         """    kernels.add(branch.Row(r), static_cast<size_t>(n), x.Row(r));
    kernels.rms_norm(x.Row(r), weight.data(), eps, n, x.Row(r));""")]),
    "tanh_gelu": ("tanh approximation of GELU in the merger", [
        (ELEMENTWISE,
         "    StoreFirst(Gelu(LoadFirst(x + i, left)), x + i, left);",
         """    const F32x16 v = LoadFirst(x + i, left);
    const F32x16 cube = Mul(Mul(v, v), v);
    const F32x16 u = Mul(Set1(-1.5957691216F), Fma(Set1(0.044715F), cube, v));
    StoreFirst(Div(v, Add(Set1(1.0F), Exp(u))), x + i, left);""")]),
    "merger_no_act": ("no activation after the merger's LayerNorm", [
        ("model/ops/norm.cc", "    kernels.gelu(y.Row(r), static_cast<size_t>(n));\n", "")]),
    "merger_eps_from_config": ("merger LayerNorm epsilon taken from the vision rms_norm_eps", [
        ("model/families/glm_ocr/vision.cc", "constexpr float kMergerNormEps = 1e-5F;", ""),
        ("model/families/glm_ocr/vision.cc", "kMergerNormEps,", "config_.rms_norm_eps,")]),
    "merger_rmsnorm": ("RMS normalisation instead of LayerNorm in the merger", [
        ("model/ops/norm.cc",
         "    kernels.layer_norm(x.Row(r), weight.data(), bias.data(), eps, n, y.Row(r));",
         """    kernels.rms_norm(x.Row(r), weight.data(), eps, n, y.Row(r));
    kernels.add(bias.data(), static_cast<size_t>(n), y.Row(r));""")]),
    "text_gate_up_swapped": ("gate and up halves exchanged in the text MLP", [
        ("model/checkpoint/weight_source.cc",
         """int64_t index, std::span<float> scratch) {
  for (const StoredTensor* tensor : spec.rows) {""",
         """int64_t index, std::span<float> scratch) {
  if (spec.silu_mul && spec.rows.size() == 1) {
    const int64_t half = spec.rows[0]->shape[0] / 2;
    index = index < half ? index + half : index - half;
  }
  for (const StoredTensor* tensor : spec.rows) {""")]),
    "vision_gate_up_swapped": ("gate and up exchanged in the vision MLP", [
        ("model/families/glm_ocr/weights.cc", '{prefix + "mlp.gate_proj", prefix + "mlp.up_proj"}',
         '{prefix + "mlp.up_proj", prefix + "mlp.gate_proj"}')]),
    "eh_proj_swapped": ("hidden half first in the MTP input", [
        ("model/families/glm_ocr/mtp.cc", "joined.Columns(0, width)", "joined.Columns(WIDTH, width)"),
        ("model/families/glm_ocr/mtp.cc", "joined.Columns(width, width)", "joined.Columns(0, width)"),
        ("model/families/glm_ocr/mtp.cc", "joined.Columns(WIDTH, width)", "joined.Columns(width, width)")]),
    "one_d_positions": ("1-D positions: T=H=W=index", [
        ("model/engine/sequence.h",
         """    return row < prompt_len()
               ? prompt.positions[static_cast<size_t>(axis)][static_cast<size_t>(row)]
               : static_cast<int32_t>(row) + prompt.rope_delta;""",
         "    return static_cast<int32_t>(row + 0 * axis);")]),
    "mrope_sections_interleaved": ("sections assigned d%3 instead of contiguous ranges", [
        ("model/ops/rope.cc",
         "      while (i == section_end) section_end += section[static_cast<size_t>(++axis)];",
         "      axis = i % 3; (void)section_end;")]),
    "raster_patches": ("patches in raster order instead of merge-block order", [
        ("model/families/glm_ocr/image_processor.cc",
         """  for (int block_row = 0; block_row < grid.rows; block_row += merge) {
    for (int block_col = 0; block_col < grid.cols; block_col += merge) {
      for (int r = 0; r < merge; ++r) {
        for (int c = 0; c < merge; ++c) write_patch(block_row + r, block_col + c);
      }
    }
  }""",
         """  (void)merge;
  for (int r = 0; r < grid.rows; ++r) {
    for (int c = 0; c < grid.cols; ++c) write_patch(r, c);
  }""")]),
    "no_vision_rope": ("no rotary in the vision tower", [
        ("model/families/glm_ocr/vision.cc",
         "  kernels_.rope_half(ws.cos.View().Row(patch), ws.sin.View().Row(patch), d, y);\n",
         "  (void)patch;\n  (void)ws;\n")]),
    "vision_rope_before_norm": ("rotary before the q/k norm", [
        ("model/families/glm_ocr/vision.cc",
         "  kernels_.rms_norm(x, norm.data(), config_.rms_norm_eps, d, y);\n"
         "  kernels_.rope_half(ws.cos.View().Row(patch), ws.sin.View().Row(patch), d, y);\n",
         "  if (x != y) std::copy_n(x, d, y);\n"
         "  kernels_.rope_half(ws.cos.View().Row(patch), ws.sin.View().Row(patch), d, y);\n"
         "  kernels_.rms_norm(y, norm.data(), config_.rms_norm_eps, d, y);\n")]),
    "no_qk_norm": ("vision q/k norm left out", [
        ("model/families/glm_ocr/vision.cc", "  kernels_.rms_norm(x, norm.data(), config_.rms_norm_eps, d, y);\n",
         "  (void)norm;\n  if (x != y) std::copy_n(x, d, y);\n")]),
    "downsample_transposed": ("2x2 block order (dx, dy) in the downsample", [
        ("model/checkpoint/weight_source.cc", "stored[static_cast<size_t>(c * places + place)]",
         "stored[static_cast<size_t>(c * places + place % 2 * 2 + place / 2)]")]),
    "bidirectional_image": ("image tokens attend to each other without causal mask", [
        ("model/families/glm_ocr/decoder.cc",
         "        context[rows] = static_cast<int32_t>(slice.first_index + task.first_row + j + 1);",
         """        int64_t last = row;
        while (last + 1 < slice.first_row + slice.num_rows &&
               batch.positions[0][static_cast<size_t>(last + 1)] ==
                   batch.positions[0][static_cast<size_t>(row)]) {
          ++last;
        }
        context[rows] = static_cast<int32_t>(slice.first_index + last - slice.first_row + 1);""")]),
    "cross_image_attention": ("vision attention across images", [
        ("model/families/glm_ocr/vision.cc", "    const int64_t pages = CeilDiv(n, kPageKeys);\n",
         "    const int64_t pages = CeilDiv(plan.num_patches + n, kPageKeys) - plan.num_pages;\n"),
        ("model/families/glm_ocr/vision.cc", "const int64_t at = patch - s->first_patch;", "const int64_t at = patch;"),
        ("model/families/glm_ocr/vision.cc", "s->num_patches - at, first_patch + count - patch",
         "s->first_patch + s->num_patches - at, first_patch + count - patch"),
        ("model/families/glm_ocr/vision.cc", "s->first_page + at / kPageKeys", "at / kPageKeys"),
        ("model/families/glm_ocr/vision.cc", "if (at + n == s->num_patches) ++s;",
         "if (at + n == s->first_patch + s->num_patches) ++s;"),
        ("model/families/glm_ocr/vision.cc", "static_cast<int32_t>(s.num_patches);", "static_cast<int32_t>(plan.num_patches);"),
        ("model/families/glm_ocr/vision.cc", "task.head * plan.num_pages + s.first_page;", "task.head * plan.num_pages;")]),
    "decode_position_is_index": ("generated tokens use the cache index as rope position", [
        ("model/engine/sequence.h", ": static_cast<int32_t>(row) + prompt.rope_delta;", ": static_cast<int32_t>(row);")]),
    "mtp_chain_position_is_index": ("draft steps use the cache index as rope position", [
        ("model/engine/speculative.cc",
         "    pass.ids.push_back(p->drafts.back());\n    PushSlotPosition(s, slot, pass.batch);",
         "    pass.ids.push_back(p->drafts.back());\n    const auto at = static_cast<int32_t>(slot);\n"
         "    pass.batch.PushPosition(at, at, at);")]),
    "mtp_pre_norm_hidden": ("MTP gets the hidden before the final norm", [
        ("model/engine/engine.cc", "e.drafter.WarmUp(sequences, batch, hidden);", "e.drafter.WarmUp(sequences, batch, x);")]),
    "kv_head_modulo": ("query head j reads kv head j % n instead of j // group", [
        ("model/families/glm_ocr/decoder.cc", "kv_head * group + g;", "g * config_.num_kv_heads + kv_head;")]),
    "vision_eps_1e-6": ("vision RMSNorm epsilon 1e-6", [
        ("model/families/glm_ocr/vision.cc", "    : config_(config.vision),",
         "    : config_([&] { VisionConfig c = config.vision; c.rms_norm_eps = 1e-6F; return c; }()),")]),
    "text_eps_1e-6": ("text RMSNorm epsilon 1e-6", [
        ("model/families/glm_ocr/decoder.cc", "  const float eps = config_.rms_norm_eps;", "  const float eps = 1e-6F;")]),
    "scale_from_hidden": ("attention scale from hidden/heads instead of head_dim", [
        ("model/families/glm_ocr/decoder.cc", "1.0F / std::sqrt(static_cast<float>(d))",
         "1.0F / std::sqrt(static_cast<float>(config_.hidden_size) / static_cast<float>(config_.num_heads))")]),
    "patch_t_before_c": ("patch values in the order (time, channel, y, x)", [
        ("model/families/glm_ocr/image_processor.cc",
         """    for (size_t c = 0; c < Image::kChannels; ++c) {
      const float* const channel = out;""",
         """    float* const start = out;
    for (size_t c = 0; c < Image::kChannels; ++c) {
      out = start + c * static_cast<size_t>(side * side);
      const float* const channel = out;"""),
        ("model/families/glm_ocr/image_processor.cc",
         "        out = std::copy_n(channel, side * side, out);\n",
         "        out = std::copy_n(channel, side * side, start + (3 * frame + c) * side * side);\n")]),
    "mtp_unshifted_tokens": ("MTP slot i gets token i instead of token i+1", [
        ("model/engine/speculative.cc", "pass.ids.push_back(s->tokens[static_cast<size_t>(i + 1)]);",
         "pass.ids.push_back(s->tokens[static_cast<size_t>(i)]);"),
        ("model/engine/speculative.cc", "pass.ids.push_back(s.tokens[static_cast<size_t>(slot + 1)]);",
         "pass.ids.push_back(s.tokens[static_cast<size_t>(slot)]);")]),
    "mtp_no_prefill": ("draft layer's cache not filled with the prompt", [
        ("model/engine/speculative.cc",
         "    model_.mtp()->Forward(pass.embeddings.View(), h, pass.batch, pool_, pass.mtp);\n    if (options_.observer) options_.observer(\"mtp_prefill\", pass.mtp.n.View());",
         "    if (options_.observer) options_.observer(\"mtp_prefill\", h);")]),
    "bf16_rope": ("text cos/sin rounded to bfloat16", [
        ("model/ops/rope.cc",
         "      const SinCos value = ExactSinCos(position * inverse_frequencies[static_cast<size_t>(i)]);",
         """      const auto round = [](float v) {
        uint32_t bits = __builtin_bit_cast(uint32_t, v);
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000U;
        return __builtin_bit_cast(float, bits);
      };
      SinCos value = ExactSinCos(position * inverse_frequencies[static_cast<size_t>(i)]);
      value = {round(value.sin), round(value.cos)};""")]),
    "copies_used": ("draft layer uses its stored copy of the embedding", [
        ("model/engine/speculative.cc", "  model_.decoder().Embed(pass.ids, e);",
         """  const std::string copy = "model.language_model.layers." +
                           std::to_string(model_.config().text.num_layers) + ".embed_tokens.weight";
  for (int64_t r = 0; r < rows; ++r) {
    WidenRow(*model_.snapshot().checkpoint.Find(copy), pass.ids[static_cast<size_t>(r)],
             {e.Row(r), static_cast<size_t>(e.cols)});
  }""")]),
}
