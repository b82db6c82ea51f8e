import type { Web } from './doctor/setup.ts';

/** What the command needs of the process around it; a test gives its own. */
export interface CliIo {
  env: NodeJS.ProcessEnv;
  stdin: AsyncIterable<Uint8Array | string>;
  /** The result alone. */
  stdout: TextSink;
  /** Faults and remarks. */
  stderr: TextSink;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** How `foyer doctor` reaches addresses. */
  web?: Web;
}

export interface TextSink {
  write(text: string): unknown;
  /** Whether somebody watches: a line may be written over. */
  isTTY?: boolean;
}

/** What a command did: for a program (`--json`) and for people. */
export interface Result {
  json: unknown;
  /** One or more lines, without the last line's end. */
  text: string;
}

/** Where a command's definition hands over: runs it, and prints what it did. */
export type Act = (run: () => Promise<Result>, options: { json?: boolean }) => Promise<void>;

/** U+0080 to U+009F are controls to a terminal, others begin a line or turn its direction, and JSON lets them all through. */
const escapeForTerminal = (json: string) =>
  json.replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export function printResult(io: CliIo, result: Result, asJson: boolean): void {
  io.stdout.write(`${asJson ? escapeForTerminal(JSON.stringify(result.json, undefined, 2)) : result.text}\n`);
}

/** Everything that is piped in, without the line end that `echo` adds. */
export async function readAll(stdin: CliIo['stdin']): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
