import { parseUnknownJson } from '../../shared/index.ts';
import { brokenFile, isObject, maxRowSize, readChunks, type SourceRow } from './source.ts';

/** The start of the AWS command line's list; it may be in an object with a token after it. */
const listInObject = /^\s*\{\s*"Users"\s*:\s*\[/;

/** Under names in lower case; a repeated name is a fault, because it is ambiguous. */
function toValues(args: Record<string, unknown>): { values: Map<string, unknown>; fault?: string } {
  const values = new Map<string, unknown>();
  let fault: string | undefined;
  const put = (name: string, value: unknown) => {
    const key = name.trim().toLowerCase();
    if (values.has(key)) fault = 'a name stands twice in it';
    else if (value !== null && value !== '') values.set(key, typeof value === 'string' ? value.trim() : value);
  };
  for (const [name, value] of Object.entries(args)) {
    if (name !== 'Attributes' && name !== 'UserAttributes') put(name, value);
    else if (Array.isArray(value)) {
      for (const one of value) {
        if (isObject(one) && typeof one.Name === 'string') put(one.Name, one.Value);
      }
    }
  }
  return { values, ...(fault !== undefined && { fault }) };
}

function toRow(path: string, text: string, line: number): SourceRow {
  let args: unknown;
  try {
    args = parseUnknownJson(text);
  } catch {
    throw brokenFile(path, 'this is no JSON', line);
  }
  if (!isObject(args)) throw brokenFile(path, 'this is no JSON object', line);
  return { line, ...toValues(args) };
}

/** Splits a stream of text into its consecutive objects. */
class JsonStream {
  readonly #path: string;
  #text = '';
  /** Position up to which `#text` was read. */
  #at = 0;
  #begin = -1;
  #beginLine = 1;
  #line = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Whether the objects are in a list, which must be closed. */
  #list: 'none' | 'open' | 'closed' = 'none';
  #first = true;

  constructor(path: string) {
    this.#path = path;
  }

  *add(piece: string): Generator<SourceRow> {
    this.#text += piece;
    if (this.#first) {
      // Long enough to see its start, or the whole text.
      if (piece !== '' && this.#text.trimStart().length < 64) return;
      this.#enter();
    }
    for (; this.#at < this.#text.length; this.#at += 1) {
      const sign = this.#text[this.#at] as string;
      if (sign === '\n') this.#line += 1;
      if (this.#list === 'closed') continue;
      if (this.#begin < 0) this.#between(sign);
      else if (this.#within(sign)) yield this.#take();
      if (this.#begin >= 0 && this.#at - this.#begin > maxRowSize) {
        throw brokenFile(this.#path, `an object is longer than ${maxRowSize} characters`, this.#beginLine);
      }
    }
    // Discards the text that was read; an unfinished object is kept.
    const from = this.#begin < 0 ? this.#at : this.#begin;
    this.#text = this.#text.slice(from);
    this.#at -= from;
    if (this.#begin >= 0) this.#begin = 0;
  }

  *end(): Generator<SourceRow> {
    yield* this.add('');
    if (this.#begin >= 0 || this.#list === 'open') throw brokenFile(this.#path, 'is cut off', this.#line);
  }

  #enter(): void {
    this.#first = false;
    const [head] = listInObject.exec(this.#text) ?? /^\s*\[/.exec(this.#text) ?? [];
    if (head === undefined) return;
    this.#list = 'open';
    this.#line += head.split('\n').length - 1;
    this.#at = head.length;
  }

  #between(sign: string): void {
    if (sign === '{') {
      [this.#begin, this.#beginLine, this.#depth] = [this.#at, this.#line, 1];
    } else if (sign === ']' && this.#list === 'open') this.#list = 'closed';
    else if (!/[\s,]/.test(sign)) throw brokenFile(this.#path, 'this is no JSON object', this.#line);
  }

  /** @returns whether the object ends here */
  #within(sign: string): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (sign === '\\') this.#escaped = true;
      else if (sign === '"') this.#inString = false;
      return false;
    }
    if (sign === '"') this.#inString = true;
    else if (sign === '{' || sign === '[') this.#depth += 1;
    else if (sign === '}' || sign === ']') this.#depth -= 1;
    return this.#depth === 0;
  }

  #take(): SourceRow {
    const row = toRow(this.#path, this.#text.slice(this.#begin, this.#at + 1), this.#beginLine);
    this.#begin = -1;
    return row;
  }
}

/**
 * The objects of a JSON file: the output of `aws cognito-idp list-users`, a list, or consecutive objects (NDJSON).
 * @throws {CliError} refused
 */
export async function* readJson(path: string, onBytes: (read: number) => void): AsyncGenerator<SourceRow> {
  const objects = new JsonStream(path);
  const decoder = new TextDecoder();
  for await (const bytes of readChunks(path, onBytes)) {
    const text = decoder.decode(bytes, { stream: true });
    if (text !== '') yield* objects.add(text);
  }
  yield* objects.end();
}
