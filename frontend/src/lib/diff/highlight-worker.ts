/** Finds the colours of code beside the page: for long files this takes longer than a page may stand still. */
import type { ColourRequest, ColourReply } from "./colours";
import { tokensOf } from "./highlight";

addEventListener("message", ({ data }: MessageEvent<ColourRequest>) => {
  const reply: ColourReply = { id: data.id, tokens: tokensOf(data.hunks, data.language) };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- workers have none
  postMessage(reply);
});
