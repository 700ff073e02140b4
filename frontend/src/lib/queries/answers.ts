/** The query and the command of answers. */
import { queryOptions } from "@tanstack/react-query";

import { api, type Schemas, unwrap } from "@/lib/api/client";

import { keys } from "./keys";

export type AnswerDetail = Schemas["AnswerDetail"];
export type AnswerAttempt = Schemas["AnswerAttemptView"];

export const answerQuery = (id: string) =>
  queryOptions({
    queryKey: keys.answer(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/answers/{answer_id}", { params: { path: { answer_id: id } }, signal })),
  });

/** `key` makes a repetition of the same request safe. */
export const startAnswer = (body: Schemas["AnswerCreate"], key: string): Promise<AnswerDetail> =>
  unwrap(api.POST("/api/v1/answers", { body, params: { header: { "idempotency-key": key } } }));
