import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { isLoopback } from '../../../config/load.ts';
import { misspelt } from '../../../config/misspelt.ts';
import { isPrinted } from '../../../config/printed.ts';
import { counted } from '../text.ts';
import { type Finding, findingsFor, those } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, note, warning, fault } = findingsFor('configuration');

/** 32 random characters of base64 have some 22 different ones; a sentence or a repeated word has fewer. */
const minKinds = 12;

function faults({ faults: found }: Setup): Finding[] {
  if (found.length === 0) return [ok('configuration.faults', 'All variables can be read, and nothing is missing.')];
  // An example key has a finding of its own, with further remedies.
  const others = found.filter((text) => !text.startsWith('SECRET_KEY: is the value that is printed'));
  return others.map((seen) =>
    fault('configuration.faults', {
      seen,
      why: 'Foyer does not start with this.',
      todo: 'Set the variable as it says; config/example.env explains each.',
    }),
  );
}

function secretKey({ config, env, unreadable }: Setup): Finding[] {
  const keys = env.SECRET_KEY ? config.SECRET_KEYS : [];
  if (unreadable('SECRET_KEY') || keys.length === 0) return [];
  const renew =
    'Write a new one before it, with a comma (openssl rand -base64 48), restart, run `foyer keys rotate --now`.';
  const printed = isPrinted('SECRET_KEY', env.SECRET_KEY);
  return those(
    printed &&
      fault('configuration.secret-key', {
        seen: 'SECRET_KEY has the value that is printed in config/example.env.',
        why: 'Everyone knows it: with a copy of the database anyone can sign tokens, without one forge cookies.',
        todo: 'Write the output of `openssl rand -base64 48` in its place, restart, and run `foyer keys rotate --now`.',
      }),
    !printed &&
      keys.some((key) => new Set(key).size < minKinds) &&
      warning('configuration.secret-key', {
        seen: 'SECRET_KEY does not look random.',
        why: 'It seals the signing keys: what can be guessed protects nothing.',
        todo: renew,
      }),
    new Set(keys).size < keys.length &&
      note('configuration.secret-key-list', {
        seen: 'SECRET_KEY names the same key twice.',
        why: 'Then nothing has been replaced.',
        todo: 'Remove one, or write the new key before the old one.',
      }),
    new Set(keys).size === keys.length &&
      keys.length > 1 &&
      note('configuration.secret-key-list', {
        seen: `SECRET_KEY lists ${keys.length} keys: the first seals, all open.`,
        why: 'As long as an old one is listed, anyone who has it can forge cookies; without it, passwords that were hashed with it fit no more.',
        todo: `Remove the old ones ${config.REMEMBER_ME_DAYS + 1} days after the new one came, when no signing key and no password hash needs them (see Signing keys, and passwords.older).`,
      }),
  );
}

function names({ env }: Setup): Finding[] {
  return misspelt(env).map(({ name, meant }) =>
    warning('configuration.misspelt', {
      seen: `${name} is set, and Foyer has no such variable.`,
      why: 'A misspelt name is not read: the default holds.',
      todo: `Did you mean ${meant}? Rename it, or remove it if it belongs to another program.`,
    }),
  );
}

function uniformAnswers({ config, unreadable }: Setup): Finding[] {
  const name = 'PREVENT_USER_EXISTENCE_ERRORS';
  if (!config.production || config[name] || unreadable(name)) return [];
  return [
    warning('configuration.user-existence', {
      seen: `${name} is false.`,
      why: 'Sign-in, sign-up and forgotten passwords tell strangers which addresses are members’.',
      todo: `Remove ${name}, or set it to true.`,
    }),
  ];
}

function proxy({ config, env, unreadable }: Setup): Finding[] {
  const bare = config.TRUST_PROXY === undefined || config.TRUST_PROXY === 0;
  if (!config.production || !config.https || unreadable('TRUST_PROXY') || !env.TRUST_PROXY || !bare) return [];
  return [
    warning('configuration.trust-proxy', {
      seen: 'TRUST_PROXY is 0 though PUBLIC_URL begins with https://.',
      why: 'Foyer itself speaks http, so something before it ends TLS; unbelieved, it makes all members share one address and its limit of guesses.',
      todo: 'Set TRUST_PROXY to how many proxies stand before Foyer (1), or loopback, or their addresses.',
    }),
  ];
}

const isPrivate = (address: string) =>
  /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(
    address,
  ) || /^(::1$|f[cd]|fe[89ab])/i.test(address);

function metrics({ config }: Setup): Finding[] {
  const { METRICS_PORT: port, METRICS_HOST: host } = config;
  if (port === undefined || host === 'localhost' || (isIP(host) !== 0 && isPrivate(host))) return [];
  const where = host === '0.0.0.0' || host === '::' ? 'every address of this machine' : 'an address that may be public';
  return [
    warning('configuration.metrics-host', {
      seen: `METRICS_HOST is ${host}: the metrics are open on port ${port} of ${where}.`,
      why: 'They need no password there, and they show how many members sign in and fail to.',
      todo: 'Set METRICS_HOST to 127.0.0.1 or a private address, or let the firewall keep that port for Prometheus.',
    }),
  ];
}

function cookieDomain({ config, faults: found }: Setup): Finding[] {
  const domain = config.COOKIE_DOMAIN;
  if (domain === undefined || found.some((text) => text.startsWith('COOKIE_DOMAIN'))) return [];
  return [ok('configuration.cookie-domain', `COOKIE_DOMAIN ${domain} holds the host of PUBLIC_URL.`)];
}

function stores({ config, unreadable }: Setup): Finding[] {
  const [sql, redis] = [config.DATABASE_URL !== undefined, config.REDIS_URL !== undefined];
  if (unreadable('DATABASE_URL') || unreadable('REDIS_URL') || sql === redis) return [];
  return [
    note('configuration.stores', {
      seen: sql
        ? 'Records are in PostgreSQL, short-lived state is in a file on this host.'
        : 'Short-lived state is in Redis, records are in a file on this host.',
      why: 'That runs well on one host and cannot run on several.',
      todo: `Before a second host serves, set ${sql ? 'REDIS_URL' : 'DATABASE_URL'} too.`,
    }),
  ];
}

function pictures({ config, unreadable }: Setup): Finding[] {
  const { MEDIA_DIR: folder } = config;
  if (folder === undefined || unreadable('MEDIA_DIR')) return [];
  try {
    if (statSync(folder).isDirectory()) {
      accessSync(folder, constants.R_OK | constants.X_OK);
      return [];
    }
  } catch {
    // Reported below, whatever makes it unreadable.
  }
  return [
    warning('configuration.media-dir', {
      seen: `MEDIA_DIR ${folder} is no folder that this user can read.`,
      why: 'Members’ pictures are answered with 404, and their initials stand in their place.',
      todo: 'Make the folder, let Foyer’s user read it, or correct MEDIA_DIR (and run this as Foyer’s user).',
    }),
  ];
}

/** With so many countries the price of a message in each was hardly checked. */
const manyCountries = 60;

function textMessages({ config, faults: found }: Setup): Finding[] {
  const { TWILIO_ACCOUNT_SID: account, SMS_COUNTRIES: countries, SMS_LIMIT_OVERALL: overall } = config;
  if (found.some((text) => /^(TWILIO|SMS)_/.test(text))) return [];
  const id = 'configuration.text-messages';
  if (account === undefined) {
    const submitted = config.SANDBOX
      ? 'stay in the sandbox’s mailbox'
      : 'are not sent: codes by SMS are offered nowhere';
    return [ok(id, `Text messages ${submitted}.`)];
  }
  if (countries !== undefined && countries.length <= manyCountries) {
    return [ok(id, `Text messages go by Twilio to ${countries.join(', ')}, at most ${overall} an hour.`)];
  }
  return [
    warning(id, {
      seen: `Text messages go by Twilio to ${countries === undefined ? 'all' : countries.length} countries.`,
      why: 'What one costs differs a hundredfold between countries, and there are people who earn by every one that is sent.',
      todo: 'Name in SMS_COUNTRIES those that your members live in, and allow no others in the Twilio console (Geo permissions).',
    }),
  ];
}

function mode({ config, env }: Setup): Finding[] {
  if (config.production) return [];
  const { PUBLIC_URL: url } = config;
  const where = isLoopback(url) ? `the localhost address ${url}` : url;
  return [
    note('configuration.mode', {
      seen: `NODE_ENV is ${env.NODE_ENV || 'not set'}: this is ${config.SANDBOX ? 'a sandbox' : 'for development'}, on ${where}.`,
      why: 'Only this machine is answered; what matters in production alone is not looked at.',
      todo: 'If this is meant to be the real one, set NODE_ENV=production (and give this command the environment of the server).',
    }),
  ];
}

/** Checks of the variables themselves. */
export function checkConfiguration(setup: Setup): Finding[] {
  const checks = [faults, names, mode, secretKey, uniformAnswers, proxy, metrics, cookieDomain, stores, pictures];
  return [...checks, textMessages].flatMap((check) => check(setup));
}

/** For a check that is impossible because a required variable is invalid. */
export function notLookedAt(area: Parameters<typeof findingsFor>[0], names: readonly string[]): Finding {
  return findingsFor(area).note(`${area}.skipped`, {
    seen: `Not looked at: ${names.join(' and ')} cannot be read or ${names.length === 1 ? 'is' : 'are'} missing.`,
    why: `${counted(names.length, 'variable')} must be right before this can be checked.`,
    todo: 'Mend the configuration and run `foyer doctor` again.',
  });
}
