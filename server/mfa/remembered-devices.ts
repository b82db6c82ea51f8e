import { timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { type HostCookies, plainAddress } from '../http/index.ts';
import { dayMs, randomToken, sha256 } from '../shared/index.ts';
import { type Database, uuidv7 } from '../store/index.ts';
import type { User } from '../users/index.ts';
import {
  findRememberedDevice,
  forgetRememberedDevices,
  insertRememberedDevice,
  keepNewestRememberedDevices,
  type RememberedDevice,
  recordRememberedDeviceUse,
} from './remembered-device-store.ts';

type RememberedDeviceUser = Pick<User, 'id' | 'passwordEpoch'>;

/** Browsers on which users have chosen to skip the second factor for a while. */
export interface RememberedDevices {
  /** The user's valid device of this browser. */
  findRememberedDevice(req: Request, user: RememberedDeviceUser): Promise<RememberedDevice | undefined>;
  /** Records the place and time of the last use. */
  recordDeviceUse(req: Request, device: RememberedDevice): Promise<void>;
  /**
   * After the second factor was presented. Creates a new secret and replaces the browser's earlier device of the user.
   */
  remember(req: Request, res: Response, user: RememberedDeviceUser): Promise<void>;
  readonly days: number;
}

interface Settings {
  database: Database;
  cookies: HostCookies;
  days: number;
  now: () => number;
}

const cookieName = 'foyer_remembered';
/** Maximum number of users for whom a shared computer keeps a device. */
const max = 5;
/** Maximum number of a user's remembered devices: one more replaces the one that was unused longest. */
const maxOfMember = 50;
/** Longer than the User-Agent of any browser. */
const maxAgentCharacters = 512;

const matches = (secretHash: string, secret: string) => {
  const [a, b] = [Buffer.from(secretHash), Buffer.from(sha256(secret))];
  return a.length === b.length && timingSafeEqual(a, b);
};

export function createRememberedDevices({ database, cookies, days, now }: Settings): RememberedDevices {
  const { db } = database;
  /** Each cookie value is `<id>.<secret>`. */
  const marks = (req: Request) =>
    (cookies.read(req, cookieName) ?? '')
      .split('~')
      .slice(0, max)
      .map((mark) => mark.split('.'))
      .filter((parts): parts is [string, string] => parts.length === 2);

  /** The stored devices of this browser, with their cookie values. */
  async function readDeviceCookies(req: Request): Promise<{ mark: string; device: RememberedDevice }[]> {
    const found = await Promise.all(
      marks(req).map(async ([id, secret]) => {
        const device = await findRememberedDevice(db, id, now());
        return device && matches(device.secretHash, secret) ? [{ mark: `${id}.${secret}`, device }] : [];
      }),
    );
    return found.flat();
  }

  const readClientInfo = (req: Request) => ({
    ip: plainAddress(req.ip),
    userAgent: (req.get('user-agent') ?? '').slice(0, maxAgentCharacters),
    nowMs: now(),
  });

  return {
    days,
    async findRememberedDevice(req, { id, passwordEpoch }) {
      const all = await readDeviceCookies(req);
      return all.find(({ device }) => device.userId === id && device.passwordEpoch === passwordEpoch)?.device;
    },
    recordDeviceUse: (req, { id }) => recordRememberedDeviceUse(db, id, readClientInfo(req)),
    async remember(req, res, user) {
      const { ip, userAgent, nowMs } = readClientInfo(req);
      const [id, secret] = [uuidv7(nowMs), randomToken()];
      const all = await readDeviceCookies(req);
      const others = all.filter(({ device }) => device.userId !== user.id);
      for (const { device } of all) {
        if (device.userId === user.id) await forgetRememberedDevices(db, user.id, device.id);
      }
      await insertRememberedDevice(db, {
        id,
        userId: user.id,
        secretHash: sha256(secret),
        passwordEpoch: user.passwordEpoch,
        userAgent,
        ip,
        createdAt: nowMs,
        lastUsedAt: nowMs,
        expiresAt: nowMs + days * dayMs,
      });
      await keepNewestRememberedDevices(db, user.id, maxOfMember);
      const value = [`${id}.${secret}`, ...others.map(({ mark }) => mark)].slice(0, max).join('~');
      cookies.set(res, cookieName, { value, maxAgeMs: days * dayMs });
    },
  };
}
