import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { isClientId } from './client-metadata.ts';
import { routes } from './routes-table.ts';

/** The plain exchange of a code, as its client app asks for it. */
interface ExchangeRequest {
  clientId: string;
  /** Undefined: the client app has sent none. */
  secret: string | undefined;
  code: string;
  verifier: string;
  redirectUri: string;
}

/** More than any plain exchange has. */
const maxBytes = 4_096;

/** Each of these headers makes the request the library's: it has more conditions, or another form. */
const unplainHeaders = [
  'origin',
  'dpop',
  'oauth-client-attestation',
  'oauth-client-attestation-pop',
  'transfer-encoding',
  'content-encoding',
] as const;

/** An address with a query is the library's. */
const { token: path } = routes;

const visible = /^[\x21-\x7e]+$/;

/** @returns the number of bytes of the form; undefined: the request is not plain */
function readLength({ url, headers }: IncomingMessage): number | undefined {
  if (url !== path || unplainHeaders.some((name) => headers[name] !== undefined)) return undefined;
  const { 'content-type': type = '', 'content-length': length = '' } = headers;
  if (!/^application\/x-www-form-urlencoded(?:; ?charset=utf-8)?$/i.test(type) || !/^\d{1,4}$/.test(length))
    return undefined;
  const bytes = Number(length);
  return bytes > 0 && bytes <= maxBytes ? bytes : undefined;
}

/**
 * Reads the body and leaves it for the library: in the stream, or in `req.body` once the sender has gone, so that a code
 * that was used before is recognized then too.
 * @returns undefined if the sender has gone before
 */
function peekBody(req: IncomingMessage, bytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const look = () => {
      const isThere = req.readableLength === bytes;
      if (!isThere && !req.destroyed) return;
      req.off('readable', look);
      req.off('close', look);
      const body: Buffer | null = isThere ? req.read(bytes) : null;
      if (body) Object.assign(req, { body: body.toString('latin1') }).unshift(body);
      resolve(body ?? undefined);
    };
    req.on('readable', look);
    req.on('close', look);
  });
}

const known: ReadonlySet<string> = new Set([
  'grant_type',
  'code',
  'redirect_uri',
  'code_verifier',
  'client_id',
  'client_secret',
]);

/** The fields of a form; undefined if it has another one, or one that is empty or given twice. */
function readForm(body: Buffer): Record<string, string> | undefined {
  const text = body.toString('latin1');
  if (!visible.test(text)) return undefined;
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(parse(text))) {
    if (!known.has(name) || typeof value !== 'string' || value === '') return undefined;
    fields[name] = value;
  }
  return fields;
}

/** RFC 6749, section 2.3.1: both are encoded as in a form. @throws {URIError} */
const decodePart = (text: string) => decodeURIComponent(text.replaceAll('+', '%20'));

/** The client id and secret of the header; undefined if it has another form. */
function readBasic(authorization: string): { id: string; secret: string } | undefined {
  const base64 = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(authorization)?.[1] ?? '';
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return undefined;
  const [id, secret, ...others] = bytes.toString('utf8').split(':');
  if (id === undefined || secret === undefined || others.length > 0) return undefined;
  try {
    return { id: decodePart(id), secret: decodePart(secret) };
  } catch {
    return undefined;
  }
}

/** The client app by exactly one way of authentication, or by its id alone. */
function readClient(
  authorization: string | undefined,
  { client_id: id, client_secret: secret }: Record<string, string>,
): Pick<ExchangeRequest, 'clientId' | 'secret'> | undefined {
  if (authorization === undefined) return id === undefined ? undefined : { clientId: id, secret };
  const basic = readBasic(authorization);
  if (!basic || secret !== undefined || (id !== undefined && id !== basic.id)) return undefined;
  return { clientId: basic.id, secret: basic.secret };
}

/**
 * Reads the plain exchange: `authorization_code` with PKCE, and a client app that authenticates by its secret or is
 * public.
 * @returns undefined if the request is anything else; the library can still read it
 */
export async function readExchange(req: IncomingMessage): Promise<ExchangeRequest | undefined> {
  const bytes = readLength(req);
  const body = bytes === undefined ? undefined : await peekBody(req, bytes);
  const form = body && readForm(body);
  const client = form && readClient(req.headers.authorization, form);
  if (!client || form.grant_type !== 'authorization_code' || !isClientId(client.clientId)) return undefined;
  if (client.secret !== undefined && !visible.test(client.secret)) return undefined;
  const { code = '', code_verifier: verifier = '', redirect_uri: redirectUri } = form;
  if (!/^[A-Za-z0-9_-]{20,100}$/.test(code) || !/^[\w.~-]{43,128}$/.test(verifier)) return undefined;
  return redirectUri === undefined ? undefined : { ...client, code, verifier, redirectUri };
}
