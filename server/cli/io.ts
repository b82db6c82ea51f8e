import type { Web } from './doctor/setup.ts';
import type { CliError } from './errors.ts';

/** The process environment of the command; a test supplies its own. */
export interface CliIo {
  env: NodeJS.ProcessEnv;
  stdin: AsyncIterable<Uint8Array | string>;
  /** Only the result. */
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
  /** Whether it is a terminal: a line may be overwritten. */
  isTTY?: boolean;
}

/** The result of a command: for a program (`--json`) and for people. */
export interface Result {
  json: unknown;
  /** One or more lines, without the last line feed. */
  text: string;
  /** Printed after the result; it determines the exit code. */
  error?: CliError | undefined;
}

/**
 * U+0080 to U+009F control a terminal, other characters start a line or change its direction, and JSON does not escape
 * them.
 */
const escapeForTerminal = (json: string) =>
  json.replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export function printResult(io: CliIo, result: Result, asJson: boolean): void {
  io.stdout.write(`${asJson ? escapeForTerminal(JSON.stringify(result.json, undefined, 2)) : result.text}\n`);
}

/** The first line of standard input. */
export async function readLine(stdin: CliIo['stdin']): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    if (text.includes('\n')) break;
  }
  return text.split(/\r?\n/)[0] ?? '';
}

/** The whole standard input, without the line end that `echo` adds. */
export async function readAll(stdin: CliIo['stdin']): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
