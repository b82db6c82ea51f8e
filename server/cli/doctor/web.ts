import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { parseUnknownJson } from '../../shared/index.ts';
import type { Setup, Web } from './setup.ts';

export const defaultLimitMs = 4_000;
const maxBytes = 1_000_000;

export interface Answer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
  /** This machine's clock around it (milliseconds since the epoch). */
  beforeMs: number;
  afterMs: number;
}

/**
 * One GET on a separate connection, without following redirects.
 * @param options.verified false to continue with an invalid certificate
 * @throws if there is no answer in time
 */
export function fetchUrl(
  address: string,
  { ca, lookup, limitMs = defaultLimitMs }: Web,
  options: { headers?: Record<string, string>; verified?: boolean; now?: () => number } = {},
): Promise<Answer> {
  const { headers = {}, verified = true, now = Date.now } = options;
  const url = new URL(address);
  const secure = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const beforeMs = now();
    const req = (secure ? httpsRequest : httpRequest)(url, {
      agent: false,
      headers: { accept: 'application/json', 'cache-control': 'no-cache', ...headers },
      signal: AbortSignal.timeout(limitMs),
      ...(lookup && { lookup }),
      ...(ca !== undefined && { ca }),
      ...(secure && { rejectUnauthorized: verified }),
    });
    req.on('error', (error) =>
      reject(
        error.name === 'AbortError' || error.name === 'TimeoutError'
          ? new Error(`no answer within ${limitMs} ms`)
          : error,
      ),
    );
    req.on('response', (res) => {
      const afterMs = now();
      let text = '';
      res.setEncoding('utf8');
      res.on('error', reject);
      res.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxBytes) res.destroy(new Error('the answer is far too long'));
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text, beforeMs, afterMs }));
    });
    req.end();
  });
}

/** An answer even with an invalid certificate, or the reason for none. */
export const tryUrl = ({ web, say, now }: Setup, address: string): Promise<Answer | string> =>
  fetchUrl(address, web, { verified: false, now }).catch(say);

/** The parsed text, or undefined. */
export function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseUnknownJson(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export const readHeader = ({ headers }: Answer, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};
