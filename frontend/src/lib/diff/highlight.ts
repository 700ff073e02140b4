/** Colours for the code of a diff. Loaded when the first diff is shown: the languages are large. */
import { type HunkData, type HunkTokens, tokenize } from "react-diff-view";
import bash from "refractor/bash";
import c from "refractor/c";
import { refractor } from "refractor/core";
import cpp from "refractor/cpp";
import css from "refractor/css";
import go from "refractor/go";
import ini from "refractor/ini";
import java from "refractor/java";
import javascript from "refractor/javascript";
import json from "refractor/json";
import jsx from "refractor/jsx";
import markdown from "refractor/markdown";
import markup from "refractor/markup";
import php from "refractor/php";
import python from "refractor/python";
import ruby from "refractor/ruby";
import rust from "refractor/rust";
import sql from "refractor/sql";
import toml from "refractor/toml";
import tsx from "refractor/tsx";
import typescript from "refractor/typescript";
import yaml from "refractor/yaml";

const ALL = [bash, c, cpp, css, go, ini, java, javascript, json, jsx, markdown, markup, php, python];
for (const each of [...ALL, ruby, rust, sql, toml, tsx, typescript, yaml]) refractor.register(each);

type Coloured = Extract<NonNullable<Parameters<typeof tokenize>[1]>, { highlight: true }>;

/** The diff's library reads the nodes of a text, where the highlighter gives their root. */
const nodes = {
  highlight: (text: string, language: string) => refractor.highlight(text, language).children,
} as unknown as Coloured["refractor"];

/** The coloured parts of every line of a file's hunks. */
export function tokensOf(hunks: readonly HunkData[], language: string): HunkTokens {
  return tokenize([...hunks], { highlight: true, refractor: nodes, language });
}
