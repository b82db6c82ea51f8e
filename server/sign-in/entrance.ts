import type { Request, Response } from 'express';
import type { User } from '../account/index.ts';
import type { Errand, Pages } from '../http/index.ts';
import type { Challenge, Method, MfaRoom } from '../mfa/index.ts';
import type { Devices, Sessions, UpstreamSession } from '../session/index.ts';
import type { WayOn } from './way-on.ts';

export type EntranceMfa = Pick<MfaRoom, 'challenges' | 'methodsFor' | 'remembered' | 'smsCodes'>;

interface Settings {
  mfa: EntranceMfa;
  sessions: Pick<Sessions, 'begin'>;
  devices: Devices;
  wayOn: WayOn;
  pages: Pick<Pages, 'context'>;
  now: () => number;
}

/** What was shown so far: one factor. */
export interface FirstFactor {
  /** RFC 8176. */
  amr: string[];
  remember: boolean;
  errand: Errand;
  /** That the device is remembered does not count. */
  everyFactor?: boolean | undefined;
  /** By a provider: when it was shown there. Undefined: now. A second factor that is shown here is shown now. */
  shownAtMs?: number | undefined;
  /** The provider by which the member came. */
  upstream?: UpstreamSession | undefined;
}

export type Entered =
  | { kind: 'signed-in' }
  /** No session exists yet: the second factor is asked for there. */
  | { kind: 'challenged'; address: string };

/** The one way in for whoever has shown one factor: no room begins a session after a password by itself. */
export interface Entrance {
  enter(req: Request, res: Response, user: User, shown: FirstFactor): Promise<Entered>;
  /** The same for a member who is signed in and shows again who they are: a remembered device does not count. */
  enterAgain(req: Request, res: Response, user: User, shown: FirstFactor): Promise<Entered>;
}

export function createEntrance(settings: Settings): Entrance {
  const { mfa, sessions, devices, wayOn } = settings;

  /** What is asked for beside what was shown: nothing where a provider has asked for it already. */
  const dueAfter = async (user: User, amr: readonly string[]): Promise<Method[]> =>
    amr.includes('mfa') ? [] : mfa.methodsFor(user);

  async function challenge(
    req: Request,
    res: Response,
    user: User,
    { amr, remember, errand, upstream }: FirstFactor,
    { methods, intent }: { methods: Method[]; intent: Challenge['intent'] },
  ): Promise<Entered> {
    const id = mfa.challenges.newId();
    const [method = 'recovery'] = methods;
    const sentAtMs = method === 'sms' ? await sendCode(settings, req, user, id) : undefined;
    const { id: userId, passwordEpoch } = user;
    const begun = { userId, passwordEpoch, intent, amr, remember, errand: errand.search, upstream, method, sentAtMs };
    await mfa.challenges.begin(req, res, id, begun);
    return { kind: 'challenged', address: wayOn(user, errand, { secondFactorPending: true }).address };
  }

  async function begin(
    req: Request,
    res: Response,
    user: User,
    how: Parameters<Sessions['begin']>[3],
  ): Promise<Entered> {
    await sessions.begin(req, res, user, how);
    await devices.remember(req, res, user);
    return { kind: 'signed-in' };
  }

  return {
    async enter(req, res, user, shown) {
      const { amr, remember, upstream, shownAtMs } = shown;
      const methods = await dueAfter(user, amr);
      if (methods.length === 0) return begin(req, res, user, { amr, remember, upstream, shownAtMs });
      const device = shown.everyFactor ? undefined : await mfa.remembered.recognise(req, user);
      if (!device) return challenge(req, res, user, shown, { methods, intent: 'sign-in' });
      await mfa.remembered.note(req, device);
      return begin(req, res, user, { amr, remember, upstream, shownAtMs, onRememberedDevice: true });
    },
    async enterAgain(req, res, user, shown) {
      const { amr, remember, upstream } = shown;
      const methods = await dueAfter(user, amr);
      if (methods.length > 0) return challenge(req, res, user, shown, { methods, intent: 're-authenticate' });
      return begin(req, res, user, { amr, remember, upstream });
    },
  };
}

/** Sends a code for a challenge. @returns when, or undefined where none could be sent */
export async function sendCode(
  { mfa, devices, now }: Pick<Settings, 'mfa' | 'devices' | 'now'>,
  req: Request,
  user: User,
  id: string,
): Promise<number | undefined> {
  const { language: lang } = req;
  const owner = { flow: id, device: devices.recognise(req, user) };
  const sent = await mfa.smsCodes.send(user, owner, { lang, ip: req.ip ?? '' });
  return sent.sent ? now() : undefined;
}
