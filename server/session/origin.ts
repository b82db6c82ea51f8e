import type { Request } from 'express';
import type { User } from '../account/index.ts';
import { type Language, languageOf, translator } from '../http/index.ts';
import { deviceName } from './device-name.ts';

/** Where an act came from, as the mail about it says. */
export interface Origin {
  ip: string;
  userAgent: string | undefined;
  /** What the browser asks for; a member's own choice goes before it. */
  lang: Language;
}

export const originOf = (req: Request): Origin => ({
  ip: req.ip ?? '',
  userAgent: req.get('user-agent'),
  lang: languageOf(req.get('accept-language')),
});

/** An address as people know it: without the prefix of an IPv4 address in IPv6 (RFC 4291, section 2.5.5.2). */
export const plainAddress = (ip: string | undefined): string => (ip ?? '').replace(/^::ffff:/, '');

/** The browser and address of an act, in the words of a mail. */
export const whence = (lang: Language, { userAgent, ip }: Pick<Origin, 'userAgent' | 'ip'>) => ({
  device: deviceName(translator(lang), userAgent),
  address: plainAddress(ip),
});

/**
 * What every mail about an act has in common: to whom, in which language, when, from where.
 * @param atMs milliseconds since the epoch
 */
export function mailAbout(user: Pick<User, 'email' | 'givenName' | 'locale'>, from: Origin, atMs: number) {
  const lang = languageOf(from.lang, user.locale ?? undefined);
  return {
    mail: { channel: 'mail', to: user.email, lang },
    values: { givenName: user.givenName, atMs, ...whence(lang, from) },
  } as const;
}
