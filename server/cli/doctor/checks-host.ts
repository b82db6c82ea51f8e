import { isIP } from 'node:net';
import { join } from 'node:path';
import { isLoopback } from '../../../config/load.ts';
import { misspelt } from '../../../config/misspelt.ts';
import { isPrinted } from '../../../config/printed.ts';
import { findCallLimitFaults, findLegalFaults, inspectTexts } from '../../load-settings.ts';
import { runtimeFault } from '../../runtime-check.ts';
import { type FolderFacts, isFuse, isMemory, isReadableFolder, networkName } from './data-folder.ts';
import { bytesText, type Finding } from './finding.ts';
import { defaultThreads, type MachineFacts } from './machine.ts';
import type { Setup } from './setup.ts';
import { fault, note, ok, row, table, warning } from './table.ts';

/** An example key has a finding of its own, with further remedies. */
const isPrintedKey = (text: string) => text.startsWith('SECRET_KEY: is the value that is printed');

const judgeFaults = ({ faults }: Setup): Finding[] => [
  ...table('configuration', [
    ok('configuration.faults', faults.length === 0)`All variables can be read, and nothing is missing.`,
  ]),
  ...faults.flatMap((text) =>
    table('configuration', [
      fault('configuration.faults', !isPrintedKey(text))`${text}
    Why: Foyer does not start with this.
    Do: Set the variable as it says; config/example.env explains each.`,
    ]),
  ),
];

const judgeCallLimits = ({ config, unreadable }: Setup): Finding[] =>
  unreadable('API_LIMIT_CALLS')
    ? []
    : findCallLimitFaults(config).flatMap((text) =>
        table('configuration', [
          fault('configuration.call-limits')`${text}
    Why: Foyer does not start with this.
    Do: Correct API_LIMIT_CALLS; docs/configuration.md lists the calls with a limit of their own.`,
        ]),
      );

/** Stops a start; PLANS_FILE and PROVIDERS_FILE have areas of their own. */
const judgeLegalTexts = ({ config, unreadable }: Setup): Finding[] =>
  unreadable('LEGAL_DIR')
    ? []
    : findLegalFaults(config).flatMap((text) =>
        table('configuration', [
          fault('configuration.legal-dir')`${text}
    Why: Foyer does not start with this.
    Do: Correct LEGAL_DIR or the files in it; docs/configuration.md says what they must contain.`,
        ]),
      );

const judgeTexts = ({ config, unreadable }: Setup): Finding[] => {
  const { TEXTS_DIR: folder } = config;
  if (folder === undefined || unreadable('TEXTS_DIR')) return [];
  const { faults, count } = inspectTexts(config);
  return [
    ...table('configuration', [
      ok('configuration.texts-dir', faults.length === 0)`${count} texts are replaced by those of TEXTS_DIR ${folder}.`,
    ]),
    ...faults.flatMap((text) =>
      table('configuration', [
        fault('configuration.texts-dir')`${text}
    Why: Foyer does not start with this.
    Do: Correct the file; its keys and placeholders are those of locales/en.`,
      ]),
    ),
  ];
};

const judgeNames = ({ env }: Setup): Finding[] =>
  misspelt(env).flatMap(({ name, meant }) =>
    table('configuration', [
      warning('configuration.misspelt')`${name} is set, and Foyer has no such variable.
    Why: A misspelt name is not read: the default holds.
    Do: Did you mean ${meant}? Rename it, or remove it if it belongs to another program.`,
    ]),
  );

/** 32 random characters of base64 have some 22 different ones; a sentence or a repeated word has fewer. */
const minKinds = 12;

function judgeSecretKeys({ config, env, unreadable }: Setup): Finding[] {
  const keys = env.SECRET_KEY && !unreadable('SECRET_KEY') ? config.SECRET_KEYS : [];
  const isPredictable = keys.some((key) => new Set(key).size < minKinds);
  return table('configuration', [
    fault('configuration.secret-key', keys.length > 0 && isPrinted('SECRET_KEY', env.SECRET_KEY))`
    SECRET_KEY has the value that is printed in config/example.env.
    Why: Everyone knows it: with a copy of the database anyone can sign tokens, without one forge cookies.
    Do: Write the output of \`openssl rand -base64 48\` in its place, restart, and run \`foyer keys rotate --now\`.`,
    warning('configuration.secret-key', isPredictable)`SECRET_KEY does not look random.
    Why: It seals the signing keys: what can be guessed protects nothing.
    Do: Write a new one before it, with a comma (openssl rand -base64 48), restart, run \`foyer keys rotate --now\`.`,
    note('configuration.secret-key-list', new Set(keys).size < keys.length)`SECRET_KEY names the same key twice.
    Why: Then nothing has been replaced.
    Do: Remove one, or write the new key before the old one.`,
    note('configuration.secret-key-list', keys.length > 1)`
    SECRET_KEY lists ${keys.length} keys: the first seals, all open.
    Why: As long as an old one is listed, anyone who has it can forge cookies; without it, passwords that were hashed with it fit no more.
    Do: Remove the old ones ${config.REMEMBER_ME_DAYS + 1} days after the new one came, when no signing key and no password hash needs them (see Signing keys, and passwords.older).`,
  ]);
}

const isPrivate = (address: string) =>
  /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(
    address,
  ) || /^(::1$|f[cd]|fe[89ab])/i.test(address);

function judgeServing({ config, env, faults, unreadable }: Setup): Finding[] {
  const { production, COOKIE_DOMAIN: domain, METRICS_HOST: host, METRICS_PORT: port } = config;
  const isPublic = host !== 'localhost' && (isIP(host) === 0 || !isPrivate(host));
  const where = host === '0.0.0.0' || host === '::' ? 'every address of this machine' : 'an address that may be public';
  const existence = 'PREVENT_USER_EXISTENCE_ERRORS';
  const isDomainValid = domain !== undefined && !faults.some((text) => text.startsWith('COOKIE_DOMAIN'));
  return table('configuration', [
    warning('configuration.user-existence', production && !config[existence] && !unreadable(existence))`
    ${existence} is false.
    Why: Sign-in, sign-up and forgotten passwords tell strangers which addresses are members’.
    Do: Remove ${existence}, or set it to true.`,
    warning('configuration.trust-proxy', production && config.https && config.TRUST_PROXY === 0 && !!env.TRUST_PROXY)`
    TRUST_PROXY is 0 though PUBLIC_URL begins with https://.
    Why: Foyer itself speaks http, so something before it ends TLS; unbelieved, it makes all members share one address and its limit of guesses.
    Do: Set TRUST_PROXY to how many proxies stand before Foyer (1), or loopback, or their addresses.`,
    warning('configuration.metrics-host', port !== undefined && isPublic)`
    METRICS_HOST is ${host}: the metrics are open on port ${port} of ${where}.
    Why: They need no password there, and they show how many members sign in and fail to.
    Do: Set METRICS_HOST to 127.0.0.1 or a private address, or let the firewall keep that port for Prometheus.`,
    ok('configuration.cookie-domain', isDomainValid)`COOKIE_DOMAIN ${domain} holds the host of PUBLIC_URL.`,
  ]);
}

function judgePlaces({ config, unreadable }: Setup): Finding[] {
  const { MEDIA_DIR: folder } = config;
  const sql = config.DATABASE_URL !== undefined;
  const isMixed = sql !== (config.REDIS_URL !== undefined) && !unreadable('DATABASE_URL') && !unreadable('REDIS_URL');
  const isReadable = folder === undefined || unreadable('MEDIA_DIR') || isReadableFolder(folder);
  return table('configuration', [
    note('configuration.stores', isMixed)`
    ${sql ? 'Records are in PostgreSQL, short-lived state is' : 'Short-lived state is in Redis, records are'} in a file on this host.
    Why: That runs well on one host and cannot run on several.
    Do: Before a second host serves, set ${sql ? 'REDIS_URL' : 'DATABASE_URL'} too.`,
    warning('configuration.media-dir', !isReadable)`MEDIA_DIR ${folder} is no folder that this user can read.
    Why: Members’ pictures are answered with 404, and their initials stand in their place.
    Do: Make the folder, let Foyer’s user read it, or correct MEDIA_DIR (and run this as Foyer’s user).`,
  ]);
}

/** With so many countries the price of a message in each was hardly checked. */
const manyCountries = 60;

function judgeTextMessages({ config, faults }: Setup): Finding[] {
  if (faults.some((text) => /^(TWILIO|SMS)_/.test(text))) return [];
  const { SANDBOX, TWILIO_ACCOUNT_SID: account, SMS_COUNTRIES: countries, SMS_LIMIT_OVERALL: overall } = config;
  const id = 'configuration.text-messages';
  const unsent = SANDBOX ? 'stay in the sandbox’s mailbox' : 'are not sent: codes by SMS are offered nowhere';
  return table('configuration', [
    ok(id, account === undefined)`Text messages ${unsent}.`,
    ok(id, countries !== undefined && countries.length <= manyCountries)`
    Text messages go by Twilio to ${countries?.join(', ')}, at most ${overall} an hour.`,
    warning(id)`Text messages go by Twilio to ${countries?.length ?? 'all'} countries.
    Why: What one costs differs a hundredfold between countries, and there are people who earn by every one that is sent.
    Do: Name in SMS_COUNTRIES those that your members live in, and allow no others in the Twilio console (Geo permissions).`,
  ]);
}

function judgeMode({ config, env }: Setup): Finding[] {
  const { PUBLIC_URL: url } = config;
  const kind = config.SANDBOX ? 'a sandbox' : 'for development';
  const place = isLoopback(url) ? `the localhost address ${url}` : url;
  return table('configuration', [
    note('configuration.mode', !config.production)`
    NODE_ENV is ${env.NODE_ENV || 'not set'}: this is ${kind}, on ${place}.
    Why: Only this machine is answered; what matters in production alone is not looked at.
    Do: If this is meant to be the real one, set NODE_ENV=production (and give this command the environment of the server).`,
  ]);
}

/** The variables themselves. */
export function checkConfiguration(setup: Setup): Finding[] {
  const checks = [
    judgeFaults,
    judgeLegalTexts,
    judgeTexts,
    judgeCallLimits,
    judgeNames,
    judgeMode,
    judgeSecretKeys,
    judgeServing,
    judgePlaces,
    judgeTextMessages,
  ];
  return checks.flatMap((check) => check(setup));
}

const minFiles = 4096;

export function judgeMachine(facts: MachineFacts): Finding[] {
  const { nodeVersion, cores, threads, workers, openFiles = minFiles, root, production } = facts;
  return table('machine', [
    fault('machine.node', runtimeFault(nodeVersion) !== undefined)`This is Node ${nodeVersion}.
    Why: Foyer uses parts that older ones lack.
    Do: Install Node 24 or newer, or use the one in node_modules/.bin.`,
    ok('machine.node')`Node ${nodeVersion}, ${cores} cores.`,
    note('machine.threads', production && (threads ?? defaultThreads) < Math.min(cores, 64))`
    UV_THREADPOOL_SIZE is ${threads ?? `not set here, so ${defaultThreads}`}, and there are ${cores} cores.
    Why: Passwords are hashed in these threads: with fewer of them than cores some cores are left idle while members wait.
    Do: Set UV_THREADPOOL_SIZE=${cores} where the server is started (the Procfile and the unit in docs/production.md do).`,
    note('machine.workers', production && workers > cores)`WEB_CONCURRENCY is ${workers}, and there are ${cores} cores.
    Why: More processes than cores take each other time and memory.
    Do: Set WEB_CONCURRENCY=${cores}.`,
    row(production ? 'warning' : 'note')('machine.open-files', openFiles < minFiles)`
    A process may have ${openFiles} files and connections open, as this command was started.
    Why: Each connection of a member or proxy is one; when they run out, new ones are refused.
    Do: Set LimitNOFILE=65536 in the service, or \`ulimit -n 65536\` before the start.`,
    note('machine.root', production && root)`This command runs as root.
    Why: Root may read and write everything, so whether the server’s own user may is told by owners and permissions alone.
    Do: Run it as the user of the server (docs/production.md has the alias).`,
  ]);
}

const octal = (mode: number) => (mode & 0o777).toString(8).padStart(3, '0');
const isOpenToAll = (mode: number) => (mode & 0o007) !== 0;

function judgeFolderContent({ path, mode = 0, owner, fileSystem, production, ...facts }: FolderFacts): Finding[] {
  const network = networkName(fileSystem);
  const space = `${bytesText(facts.freeBytes)} of ${bytesText(facts.totalBytes)} are free.`;
  const open = facts.files.filter((file) => isOpenToAll(file.mode));
  const inReach = [`DATA_DIR (${octal(mode)})`, ...open.map((file) => `${file.name} (${octal(file.mode)})`)];
  // In a closed folder the files are unreachable.
  const isHarmful = open.length > 0 || (mode & 0o002) !== 0;
  const foreign = facts.files.filter((file) => file.owner !== owner).map(({ name }) => name);
  return table('data-folder', [
    fault('data-folder.network', network !== undefined)`DATA_DIR lies on a network file system (${network}).
    Why: SQLite’s log and locks do not work there: the database will be damaged sooner or later.
    Do: Move ${path} to a disk of this host, or set DATABASE_URL and REDIS_URL.`,
    warning('data-folder.network', isFuse(fileSystem))`DATA_DIR lies on a FUSE file system.
    Why: Many of those are networks, on which SQLite’s log and locks do not work.
    Do: If it is one, move the folder to a disk of this host, or set DATABASE_URL and REDIS_URL.`,
    warning('data-folder.memory', production && isMemory(fileSystem))`DATA_DIR lies in memory (tmpfs).
    Why: With the next start of this host all members, clients and keys are gone.
    Do: Set DATA_DIR to a folder on a disk.`,
    row(facts.freeBytes < 100e6 ? 'fault' : 'warning')('data-folder.space', facts.freeBytes < 1e9)`${space}
    Why: On a full disk no one can sign in, because nothing can be written.
    Do: Make room, or a larger disk.`,
    ok('data-folder.space')`${space}`,
    row(isHarmful ? 'fault' : 'warning')('data-folder.permissions', isOpenToAll(mode))`
    Every user of this host can get at ${inReach.join(', ')}.
    Why: Members’ addresses, password hashes and sealed keys lie there.
    Do: chmod 700 ${path}${open.map(({ name }) => ` && chmod 600 ${join(path, name)}`).join('')}`,
    ok('data-folder.permissions')`${path} is closed to other users (${octal(mode)}).`,
    warning('data-folder.owner', foreign.length > 0)`${foreign.join(', ')}: another owner than the folder.
    Why: A file that root has made cannot be written by the server’s user.
    Do: chown ${owner} ${foreign.map((name) => join(path, name)).join(' ')}; run \`foyer\` as the server’s user.`,
  ]);
}

/** The folder of the SQLite files. A finding about the folder itself leaves nothing to say about its content. */
export function judgeFolder(facts: FolderFacts): Finding[] {
  const { path, mode, fault: reason, used } = facts;
  const found = table('data-folder', [
    ok('data-folder.used', !used)`Nothing is kept in DATA_DIR: both stores are servers.`,
    fault('data-folder.writable', used && reason !== undefined)`DATA_DIR: ${reason}.
    Why: The SQLite files lie there: nothing can be kept.
    Do: Run this command as the server’s user; if it is, mend the folder, or set DATA_DIR to one that only that user can read.`,
    note('data-folder.missing', used && reason === undefined && mode === undefined)`DATA_DIR ${path} is not there yet.
    Why: The first start makes it, readable for its user alone.
    Do: Start Foyer; if it has run before, DATA_DIR is not the one that the server has.`,
  ]);
  return found.length > 0 ? found : judgeFolderContent(facts);
}
