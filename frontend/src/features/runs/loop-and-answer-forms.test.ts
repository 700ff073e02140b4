// @vitest-environment jsdom
/** What is typed into the forms of loops and answers is what is sent. */
import { describe, expect, it } from "vitest";

import { ApiError } from "@/lib/api/errors";

import {
  answerCommand,
  answerRequest,
  EMPTY_ANSWER,
  EMPTY_LOOP,
  inputNames,
  loopRequest,
  saidOf,
} from "./loop-and-answer-forms";

const ORIGIN = "http://127.0.0.1:8000";

const XML =
  '<task><description>On {{topic}}</description><inputs><input name="topic"/><input name="tone"/></inputs><director><inputs><input name="feedback" from="x"/></inputs></director></task>';

describe("inputNames", () => {
  it.each([
    ["XML, without those of the roles", XML, ["topic", "tone"]],
    ["JSON", '{"inputs": [{"name": "topic"}, {"name": "topic"}, {}]}', ["topic"]],
    ["half an element", "<task><inputs", []],
    ["no inputs", "<task/>", []],
    ["half an object", '{"inputs": [', []],
    ["other JSON", "[1]", []],
    ["nothing", "", []],
  ])("%s", (_name, text, names) => {
    expect(inputNames(text)).toEqual(names);
  });
});

describe("loopRequest", () => {
  it("sends XML as a text, with the inputs that it declares", () => {
    const inputs = { topic: "tea", tone: "", gone: "typed before" };
    expect(loopRequest({ ...EMPTY_LOOP, definition: XML, inputs })).toEqual({
      definition: XML,
      inputs: { topic: "tea" },
    });
  });

  it("sends JSON as an object, and a script that plays the roles", () => {
    const fields = {
      ...EMPTY_LOOP,
      definition: '{"description": "x"}',
      query: " Why? ",
      name: "n",
      script: '{"title": "t"}',
    };
    const agent = { backend: "scripted", script: { title: "t" } };
    expect(loopRequest(fields)).toEqual({
      definition: { description: "x" },
      inputs: {},
      query: "Why?",
      name: "n",
      agent,
    });
  });

  it("leaves what is no JSON to the service", () => {
    expect(loopRequest({ ...EMPTY_LOOP, definition: '{"description": ' }).definition).toBe(
      '{"description": ',
    );
  });
});

describe("answers", () => {
  const fields = {
    ...EMPTY_ANSWER,
    query: "It's how much?",
    entries: ["list: 3 francs", " "],
    domains: "shop, law",
    rules: "Name it.\n\n",
    retries: "1",
    model: "a:b",
  };

  it("are asked with evidence, domains and rules", () => {
    expect(answerRequest(fields)).toEqual({
      query: "It's how much?",
      entries: ["list: 3 francs"],
      domains: ["shop", "law"],
      rules: ["Name it."],
      max_retries: 1,
      agent: { model: "a:b" },
    });
    expect(answerRequest(EMPTY_ANSWER)).toEqual({ query: "", entries: [] });
  });

  it("are one command, unless the command line would read them otherwise", () => {
    expect(answerCommand(fields, ORIGIN)).toBe(
      String.raw`phaserunner answer 'It'\''s how much?' '--entry=list: 3 francs' --domain=shop --domain=law '--rule=Name it.' --max-retries=1 --model=a:b --url=${ORIGIN}`,
    );
    for (const other of [{ query: "-" }, { query: "@x" }, { entries: ["@x"] }, { script: "{}" }])
      expect(answerCommand({ ...fields, ...other }, ORIGIN)).toBeNull();
  });
});

it("gives all that is said of a field", () => {
  const errors = [
    { field: "definition.director", message: "Field required (line 2)" },
    { field: "definition", message: "bad" },
    { field: "name", message: "long" },
  ];
  const refused = new ApiError({ type: "t", title: "t", status: 422, detail: "d", field: null, errors });
  expect(saidOf(refused, "definition")).toBe("director: Field required (line 2)\nbad");
  expect(saidOf(refused, "query")).toBe("");
  expect(saidOf(null, "name")).toBe("");
});
