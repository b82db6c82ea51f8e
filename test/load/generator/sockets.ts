import { connect, type Socket } from 'node:net';
import { proxied } from './connections.ts';

/** An answer, as far as the load generator reads it. */
export interface PlainAnswer {
  status: number;
  /** In small letters. */
  head: string;
}

export interface Sockets {
  post(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<PlainAnswer>;
  close(): void;
}

interface Line {
  socket: Socket;
  received: string;
  answer: ((given: PlainAnswer) => void) | undefined;
  fail: ((error: Error) => void) | undefined;
}

/** The end of an answer with a Content-Length, and its status; undefined while a part is missing. */
function readAnswer(received: string): PlainAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = received.slice(0, end).toLowerCase();
  const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
  if (received.length < end + 4 + length) return undefined;
  return { status: Number(received.slice(9, 12)), head };
}

/**
 * Open connections that cost the generator a third of a client library: it shares the cores with the server that it
 * measures. Every answer must have a Content-Length, or no body.
 * @param common headers of every request
 */
export async function openSockets(
  port: number,
  count: number,
  common: Record<string, string> = proxied,
): Promise<Sockets> {
  const idle: Line[] = [];
  const waiting: ((line: Line) => void)[] = [];
  const release = (line: Line) => {
    const next = waiting.shift();
    if (next) next(line);
    else idle.push(line);
  };
  const open = () =>
    new Promise<Line>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const line: Line = { socket, received: '', answer: undefined, fail: reject };
      socket.setEncoding('latin1');
      socket.on('error', (error) => line.fail?.(error));
      socket.on('close', () => line.fail?.(new Error('the server closed a connection')));
      socket.on('connect', () => resolve(line));
      socket.on('data', (piece: string) => {
        line.received += piece;
        const answer = readAnswer(line.received);
        if (!answer) return;
        line.received = '';
        const done = line.answer;
        line.answer = undefined;
        line.fail = undefined;
        release(line);
        done?.(answer);
      });
    });
  const lines = await Promise.all(Array.from({ length: count }, open));
  for (const line of lines) {
    line.fail = undefined;
    idle.push(line);
  }
  const take = () => {
    const line = idle.pop();
    return line ?? new Promise<Line>((resolve) => waiting.push(resolve));
  };
  return {
    async post(path, headers, body) {
      const line = await take();
      const lineOf = ([name, value]: [string, string]) => `${name}: ${value}\r\n`;
      const head = Object.entries({ ...common, ...headers, 'content-length': String(Buffer.byteLength(body)) });
      return new Promise((answer, fail) => {
        Object.assign(line, { answer, fail });
        line.socket.write(`POST ${path} HTTP/1.1\r\n${head.map(lineOf).join('')}\r\n${body}`, 'latin1');
      });
    },
    close() {
      for (const { socket } of lines) socket.destroy();
    },
  };
}
