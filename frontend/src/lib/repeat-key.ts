/** Keys of requests that may be sent again: after a lost answer, no one knows whether the first one arrived. */
import { useState } from "react";

import { randomKey } from "./random-key";

export interface RepeatKey {
  /** The same key as long as the body stays the same. */
  readonly of: (body: string) => string;
  /** It has arrived: the same body again is another request. */
  readonly arrived: () => void;
}

function createRepeatKey(): RepeatKey {
  let sent = { body: "", key: "" };
  return {
    of(body) {
      if (sent.key === "" || sent.body !== body) sent = { body, key: randomKey() };
      return sent.key;
    },
    arrived() {
      sent = { body: "", key: "" };
    },
  };
}

export function useRepeatKey(): RepeatKey {
  return useState(createRepeatKey)[0];
}
