import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import type { User } from '../users/index.ts';

/**
 * A device that a member has signed in from before (OWASP's "device cookies"): a signed cookie that names member and
 * device. Guesses from such a device are counted on their own, so strangers cannot lock the member out of it.
 * It opens nothing: without the password it is worthless. A new password forgets all devices: a mark is of one epoch.
 */
export interface KnownDevices {
  /** The device's own id, when this browser has signed in as this member before. */
  recognise(req: Request, user: DeviceUser): string | undefined;
  remember(req: Request, res: Response, user: DeviceUser): void;
}

type DeviceUser = Pick<User, 'id' | 'passwordEpoch'>;

const cookieName = 'foyer_device';
const keptMs = 365 * 24 * 60 * 60 * 1000;
/** A shared computer keeps this many members' marks. */
const max = 5;

export function createKnownDevices(cookies: HostCookies, secret: Buffer): KnownDevices {
  // Raw bytes would be imported anew for every signature, at six times the cost.
  const key = createSecretKey(secret);
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  const isSigned = (text: string, signature: string) => {
    const [a, b] = [Buffer.from(sign(text)), Buffer.from(signature)];
    return a.length === b.length && timingSafeEqual(a, b);
  };
  /** Each mark: member's digest, device id, signature. */
  const marks = (req: Request) =>
    (cookies.read(req, cookieName) ?? '')
      .split('~')
      .slice(0, max)
      .map((mark) => mark.split('.'))
      .filter((parts): parts is [string, string, string] => parts.length === 3);
  // The cookie must not tell whoever reads the browser's disk which members used it.
  const digest = (userId: string) => sign(`member ${userId}`).slice(0, 16);

  const signed = (member: string, device: string, { id, passwordEpoch }: DeviceUser) =>
    `${member}.${device}.${id}.${passwordEpoch}`;

  function recognise(req: Request, user: DeviceUser): string | undefined {
    const member = digest(user.id);
    const mark = marks(req).find(([owner]) => owner === member);
    return mark && isSigned(signed(mark[0], mark[1], user), mark[2]) ? mark[1] : undefined;
  }

  return {
    recognise,
    remember(req, res, user) {
      const member = digest(user.id);
      const device = recognise(req, user) ?? randomBytes(12).toString('base64url');
      const entry = [member, device, sign(signed(member, device, user))];
      const others = marks(req).filter(([owner]) => owner !== member);
      const value = [entry, ...others].slice(0, max).map((parts) => parts.join('.'));
      cookies.set(res, cookieName, value.join('~'), { maxAgeMs: keptMs });
    },
  };
}
