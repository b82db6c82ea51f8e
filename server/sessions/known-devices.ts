import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type { HostCookies } from '../http/index.ts';
import type { UserId } from '../shared/index.ts';
import type { User } from '../users/index.ts';

/**
 * A device from which a user has signed in before (OWASP's "device cookies"): a signed cookie with user and device.
 * Password attempts from such a device are counted separately, so that strangers cannot lock the user out of it. It
 * authorizes nothing without the password. A new password forgets all devices, because a marker belongs to one epoch.
 */
export interface KnownDevices {
  /** The id of the device, if this user has signed in from this browser before. */
  recognise(req: Request, user: DeviceUser): string | undefined;
  remember(req: Request, res: Response, user: DeviceUser): void;
  /** The mark of the user who has last signed in from this browser. It is not verified: it authorizes nothing. */
  findLastUser(req: Request): string | undefined;
  /** The mark of a user. */
  toMark(userId: UserId): string;
}

type DeviceUser = Pick<User, 'id' | 'passwordEpoch'>;

const cookieName = 'foyer_device';
const keptMs = 365 * 24 * 60 * 60 * 1000;
/** Maximum number of users for whom a shared computer keeps a marker. */
const max = 5;

export function createKnownDevices(cookies: HostCookies, secret: Buffer): KnownDevices {
  // Node would import raw bytes again for every signature, at six times the cost.
  const key = createSecretKey(secret);
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  const isSigned = (text: string, signature: string) => {
    const [a, b] = [Buffer.from(sign(text)), Buffer.from(signature)];
    return a.length === b.length && timingSafeEqual(a, b);
  };
  /** Each marker has the user's digest, the device id and a signature. */
  const marks = (req: Request) =>
    (cookies.read(req, cookieName) ?? '')
      .split('~')
      .slice(0, max)
      .map((mark) => mark.split('.'))
      .filter((parts): parts is [string, string, string] => parts.length === 3);
  // A digest, so that a reader of the browser's disk does not learn which users signed in.
  const digest = (userId: UserId) => sign(`member ${userId}`).slice(0, 16);

  const signed = (member: string, device: string, { id, passwordEpoch }: DeviceUser) =>
    `${member}.${device}.${id}.${passwordEpoch}`;

  function verify(req: Request, user: DeviceUser): string | undefined {
    const member = digest(user.id);
    const mark = marks(req).find(([owner]) => owner === member);
    return mark && isSigned(signed(mark[0], mark[1], user), mark[2]) ? mark[1] : undefined;
  }

  // A sign-in asks several times, and the cookie of a request does not change.
  const verified = new WeakMap<Request, DeviceUser & { device: string | undefined }>();
  function recognise(req: Request, user: DeviceUser): string | undefined {
    const { id, passwordEpoch } = user;
    const known = verified.get(req);
    if (known?.id === id && known.passwordEpoch === passwordEpoch) return known.device;
    const device = verify(req, user);
    verified.set(req, { id, passwordEpoch, device });
    return device;
  }

  return {
    recognise,
    findLastUser: (req) => marks(req)[0]?.[0],
    toMark: digest,
    remember(req, res, user) {
      const member = digest(user.id);
      const device = recognise(req, user) ?? randomBytes(12).toString('base64url');
      const entry = [member, device, sign(signed(member, device, user))];
      const others = marks(req).filter(([owner]) => owner !== member);
      const value = [entry, ...others].slice(0, max).map((parts) => parts.join('.'));
      cookies.set(res, cookieName, { value: value.join('~'), maxAgeMs: keptMs });
    },
  };
}
