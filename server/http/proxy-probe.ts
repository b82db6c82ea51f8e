import cluster from 'node:cluster';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { deriveKey, type KeyValueStore, StoreUnavailable } from '../store/index.ts';

/**
 * `foyer doctor` learns how a proxy changes its request: GET /readyz with this header reports what this process
 * received. The header is signed with SECRET_KEY, for this site only, for one minute and one use. Any other value is
 * ignored.
 */
export const probeHeader = 'x-foyer-probe';

const freshMs = 60_000;
const shape = /^(\d{13})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** The request as a process received it. */
export interface ProbeReport {
  /** The received `Host` header. */
  host: string;
  /** Address of the connection, and the received proxy headers; null if absent. */
  peer: string;
  forwardedFor: string | null;
  forwardedProto: string | null;
  forwardedHost: string | null;
  /** The client address and the protocol as Foyer computes them with the current TRUST_PROXY. */
  client: string;
  protocol: string;
  process: number;
  /** The number of the worker, or null with one process. */
  worker: number | null;
}

interface Probe {
  publicUrl: string;
  time: string;
  nonce: string;
}

const probeMac = (secretKey: string, { publicUrl, time, nonce }: Probe) =>
  createHmac('sha256', deriveKey(secretKey, 'doctor probe', 32))
    .update(`${publicUrl}\n${time}\n${nonce}`)
    .digest();

/** @returns the value of the header */
export function signProbe(secretKey: string, publicUrl: string, nowMs: number): string {
  const [time, nonce] = [String(nowMs), randomBytes(16).toString('base64url')];
  return `${time}.${nonce}.${probeMac(secretKey, { publicUrl, time, nonce }).toString('base64url')}`;
}

/** The nonce of a probe with a valid signature and a fresh time, else undefined. */
function verifyProbe(
  value: unknown,
  { secretKeys, publicUrl, nowMs }: { secretKeys: readonly string[]; publicUrl: string; nowMs: number },
): string | undefined {
  const [, time = '', nonce = '', mac = ''] = (typeof value === 'string' && shape.exec(value)) || [];
  if (time === '' || Math.abs(nowMs - Number(time)) > freshMs) return undefined;
  const input = Buffer.from(mac, 'base64url');
  const genuine = secretKeys.some((key) => timingSafeEqual(probeMac(key, { publicUrl, time, nonce }), input));
  return genuine ? nonce : undefined;
}

const text = (header: string | string[] | undefined) => (header === undefined ? null : String(header));

function describeRequest(req: Request): ProbeReport {
  return {
    host: req.headers.host ?? '',
    peer: req.socket.remoteAddress ?? '',
    forwardedFor: text(req.headers['x-forwarded-for']),
    forwardedProto: text(req.headers['x-forwarded-proto']),
    forwardedHost: text(req.headers['x-forwarded-host']),
    client: req.ip ?? '',
    protocol: req.protocol,
    process: process.pid,
    worker: cluster.worker?.id ?? null,
  };
}

interface ProbeSettings {
  secretKeys: readonly string[];
  publicUrl: string;
  kv: Pick<KeyValueStore, 'setIfAbsent'>;
  now: () => number;
}

/** Precedes /readyz: answers a valid probe once; otherwise the header has no effect. */
export function handleProbe({ secretKeys, publicUrl, kv, now }: ProbeSettings): RequestHandler {
  return async (req, res, next) => {
    const nonce = verifyProbe(req.headers[probeHeader], { secretKeys, publicUrl, nowMs: now() });
    if (nonce === undefined) return next();
    try {
      // Twice the validity, because the time of the probe may be ahead of this clock.
      if (!(await kv.setIfAbsent(`probe:${nonce}`, '1', 2 * freshMs + 1_000))) return next();
    } catch (error) {
      if (error instanceof StoreUnavailable) return next();
      throw error;
    }
    res.json({ seen: describeRequest(req) });
  };
}
