/**
 * YAML from people we do not know: plain values only. Size, depth and what aliases may blow up
 * are bounded before anything is built from the text, and a tag that is not one of the core
 * schema is an error.
 */
import { Composer, CST, type Document, isScalar, Lexer, LineCounter, Parser, visit } from "yaml";
import { CONFIG_SIZE_MAX_BYTES } from "../../contract/limits.ts";

/** Deeper than any section goes. */
const DEPTH_MAX = 32;
/** Entries of one list or map: the keys of a map are compared with each other. */
const ENTRIES_MAX = 1_000;
const ALIASES_MAX = 100;
const CORE_TAG = /^tag:yaml\.org,2002:(map|seq|str|int|float|bool|null|merge)$/;

/** The text cannot be read. The message says where and why. */
export class UnreadableYaml extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnreadableYaml";
  }
}

/**
 * The value that the text stands for; null for a text without any.
 *
 * @throws UnreadableYaml
 */
export function readYaml(text: string): unknown {
  const size = Buffer.byteLength(text);
  if (size > CONFIG_SIZE_MAX_BYTES)
    throw new UnreadableYaml(`it has ${size} bytes; at most ${CONFIG_SIZE_MAX_BYTES} are read`);
  if (text.includes("\0") || !text.isWellFormed())
    throw new UnreadableYaml("it is not plain text: it has characters that cannot be stored");
  const lines = new LineCounter();
  const composer = new Composer({ version: "1.2", merge: true, uniqueKeys: true, prettyErrors: true });
  const tokens = tokensOf(text, lines);
  for (const token of tokens) checkEntries(token);
  const [document, second] = composer.compose(tokens);
  if (document === undefined) return null;
  if (second !== undefined) throw new UnreadableYaml("it has several documents; only one is read");
  check(document, lines);
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    throw new UnreadableYaml(error instanceof Error ? error.message : String(error));
  }
}

/** Depth is watched token by token: composing recurses, and parsing slows down the deeper it gets. */
function tokensOf(text: string, lines: LineCounter): CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > DEPTH_MAX)
      throw new UnreadableYaml(`it is nested more than ${DEPTH_MAX} levels deep`);
  }
  tokens.push(...parser.end());
  return tokens;
}

function checkEntries(top: CST.Token): void {
  const open: CST.Token[] = [top];
  for (let token = open.pop(); token !== undefined; token = open.pop()) {
    if (token.type === "document" && token.value !== undefined) open.push(token.value);
    if (!CST.isCollection(token)) continue;
    // In the flow style, every comma opens an item.
    if (token.items.length > ENTRIES_MAX)
      throw new UnreadableYaml(`it has more than ${ENTRIES_MAX} entries in one place`);
    for (const { key, value } of token.items) {
      if (key !== undefined && key !== null) open.push(key);
      if (value !== undefined) open.push(value);
    }
  }
}

function check(document: Document.Parsed, lines: LineCounter): void {
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const [cause = ""] = fault.message.split(/ at line \d+/);
    throw new UnreadableYaml(`${placeOf(lines, fault.pos[0])}: ${cause}`);
  }
  let aliases = 0;
  visit(document, {
    Alias(_, node, path) {
      aliases += 1;
      // Looking one up walks through the whole text.
      if (aliases > ALIASES_MAX) throw new UnreadableYaml(`it has more than ${ALIASES_MAX} aliases`);
      const place = placeOf(lines, node.range?.[0]);
      const target = node.resolve(document);
      if (target === undefined) throw new UnreadableYaml(`${place}: nothing is called &${node.source} above`);
      if (path.includes(target))
        throw new UnreadableYaml(`${place}: the alias *${node.source} stands inside of what it stands for`);
    },
    Pair(_, { key }) {
      if (!isScalar(key)) throw new UnreadableYaml("it has a key that is no plain text");
    },
    Node(_, node) {
      if (node.tag === undefined || CORE_TAG.test(node.tag)) return;
      throw new UnreadableYaml(
        `${placeOf(lines, node.range?.[0])}: the tag ${node.tag} is not read; write plain values`,
      );
    },
  });
}

function placeOf(lines: LineCounter, offset = 0): string {
  const { line, col } = lines.linePos(offset);
  return `line ${line}, column ${col}`;
}
