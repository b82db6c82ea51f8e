import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FlowId, randomToken, sha256, toFlowId } from '../shared/index.ts';
import { type RecordSettings, storedRecords } from './stored-records.ts';

/**
 * Records that each belong to one browser, or to one caller of the JSON API: the id is a bearer secret, and the key
 * contains only its hash. Every record gets a new id, so that an id that an attacker planted in a browser is useless.
 */
export interface BrowserRecords<T> {
  newId(): FlowId;
  /** Writes a record under a new id. @returns the id */
  create(value: T): Promise<FlowId>;
  write(id: FlowId, value: T, ttlMs?: number): Promise<void>;
  update(id: FlowId, value: T): Promise<void>;
  find(id: FlowId): Promise<T | undefined>;
  takeOnce(id: FlowId): Promise<T | undefined>;
  findConsumable(id: FlowId): Promise<{ value: T; isUsed: boolean } | undefined>;
  consume(id: FlowId): Promise<boolean>;
  delete(id: FlowId): Promise<boolean>;
}

/** The cookie with the id of the browser's record. */
export interface RecordCookie {
  /** '' without one. */
  readCookie(req: IncomingMessage): FlowId;
  setCookie(res: ServerResponse, id: FlowId): void;
  clearCookie(res: ServerResponse): void;
}

/** The part of the host's cookies that a record needs; `http/` implements it. */
interface Cookies {
  read(req: IncomingMessage, name: string): string | undefined;
  set(res: ServerResponse, name: string, cookie: { value: string; maxAgeMs?: number }): void;
  clear(res: ServerResponse, name: string): void;
}

interface CookieSettings {
  cookies: Cookies;
  name: string;
  /** Without it the browser deletes the cookie when it is closed. */
  maxAgeMs?: number;
}

/** 256 bits in base64url. Any other text is not an id, and is not looked up. */
const idPattern = /^[\w-]{43}$/;

/** Tests whether a text has the form of an id, or of another random token. */
export const isToken = (text: string): boolean => idPattern.test(text);

export function browserRecords<T>(
  settings: RecordSettings<T> & { cookie: CookieSettings },
): BrowserRecords<T> & RecordCookie;
export function browserRecords<T>(settings: RecordSettings<T>): BrowserRecords<T>;
export function browserRecords<T>({
  cookie,
  ...settings
}: RecordSettings<T> & { cookie?: CookieSettings }): BrowserRecords<T> & Partial<RecordCookie> {
  const records = storedRecords(settings);
  return {
    newId: () => toFlowId(randomToken()),
    async create(value) {
      const id = toFlowId(randomToken());
      await records.write(sha256(id), value);
      return id;
    },
    write: (id, value, ttlMs) => records.write(sha256(id), value, ttlMs),
    update: (id, value) => records.update(sha256(id), value),
    find: async (id) => (isToken(id) ? records.find(sha256(id)) : undefined),
    takeOnce: async (id) => (isToken(id) ? records.takeOnce(sha256(id)) : undefined),
    findConsumable: async (id) => (isToken(id) ? records.findConsumable(sha256(id)) : undefined),
    consume: async (id) => isToken(id) && records.consume(sha256(id)),
    delete: async (id) => isToken(id) && records.delete(sha256(id)),
    ...(cookie && cookieFunctions(cookie)),
  };
}

function cookieFunctions({ cookies, name, ...lifetime }: CookieSettings): RecordCookie {
  return {
    readCookie: (req) => toFlowId(cookies.read(req, name) ?? ''),
    setCookie: (res, id) => cookies.set(res, name, { value: id, ...lifetime }),
    clearCookie: (res) => cookies.clear(res, name),
  };
}
