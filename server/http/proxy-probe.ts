import cluster from 'node:cluster';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { deriveKey, type KeyValueStore, StoreUnavailable } from '../store/index.ts';

/**
 * How `foyer doctor` learns what a proxy makes of its request: GET /readyz with this header answers what this process sees
 * of it. The header is made with SECRET_KEY, for this one site, for a minute and for one use; any other is as good as none.
 */
export const probeHeader = 'x-foyer-probe';

const freshMs = 60_000;
const shape = /^(\d{13})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** What a process saw of a request. */
export interface ProbeReport {
  /** `Host` as it came. */
  host: string;
  /** Who connected, and what the proxy's headers said, as they came; null when they did not. */
  peer: string;
  forwardedFor: string | null;
  forwardedProto: string | null;
  forwardedHost: string | null;
  /** Whom Foyer takes for the client, and by which protocol, with TRUST_PROXY as it is. */
  client: string;
  protocol: string;
  process: number;
  /** The worker's number, or null with one process. */
  worker: number | null;
}

const probeMac = (secretKey: string, publicUrl: string, time: string, nonce: string) =>
  createHmac('sha256', deriveKey(secretKey, 'doctor probe', 32))
    .update(`${publicUrl}\n${time}\n${nonce}`)
    .digest();

/** @returns the header's value */
export function signProbe(secretKey: string, publicUrl: string, nowMs: number): string {
  const [time, nonce] = [String(nowMs), randomBytes(16).toString('base64url')];
  return `${time}.${nonce}.${probeMac(secretKey, publicUrl, time, nonce).toString('base64url')}`;
}

/** The one-time part of a probe that is genuine and fresh, else undefined. */
export function verifyProbe(
  value: unknown,
  { secretKeys, publicUrl, nowMs }: { secretKeys: readonly string[]; publicUrl: string; nowMs: number },
): string | undefined {
  const [, time = '', nonce = '', mac = ''] = (typeof value === 'string' && shape.exec(value)) || [];
  if (time === '' || Math.abs(nowMs - Number(time)) > freshMs) return undefined;
  const input = Buffer.from(mac, 'base64url');
  const genuine = secretKeys.some((key) => timingSafeEqual(probeMac(key, publicUrl, time, nonce), input));
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

/** Before /readyz: answers a genuine probe once; everything else goes on as if the header were not there. */
export function handleProbe({ secretKeys, publicUrl, kv, now }: ProbeSettings): RequestHandler {
  return async (req, res, next) => {
    const nonce = verifyProbe(req.headers[probeHeader], { secretKeys, publicUrl, nowMs: now() });
    if (nonce === undefined) return next();
    try {
      // Twice as long as it is fresh: its time may lie ahead of this clock.
      if (!(await kv.setIfAbsent(`probe:${nonce}`, '1', 2 * freshMs + 1_000))) return next();
    } catch (error) {
      if (error instanceof StoreUnavailable) return next();
      throw error;
    }
    res.json({ seen: describeRequest(req) });
  };
}
