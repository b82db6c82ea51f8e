import { Resolver } from 'node:dns/promises';
import { parse } from 'tldts';
import { type CarrierState, checkSendGrid, checkSmtp, checkTwilio } from '../../messages/index.ts';
import { type Finding, findingsFor } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, note, warning, fault } = findingsFor('messages');

interface Checked {
  id: string;
  service: string;
  variable: string;
  /** The consequence of its absence. */
  why: string;
}

function toFinding({ say }: Setup, { id, service, variable, why }: Checked, state: CarrierState): Finding {
  if (state.kind === 'ready') return ok(id, `${service} answers and accepts the credentials of ${variable}.`);
  const isRefused = state.kind === 'refused';
  return fault(id, {
    seen: `${service} ${isRefused ? 'refuses the credentials of' : 'cannot be reached by'} ${variable}: ${say(state.why)}`,
    why,
    todo: isRefused
      ? `Correct ${variable}, restart Foyer, and run \`foyer outbox retry --all-dead\` for what was given up.`
      : `Check host, port and TLS in ${variable}, and that this host may open that connection.`,
  });
}

const noMails = 'Codes and notices do not leave: no one can sign up, confirm an address or reset a password.';

async function mailService(setup: Setup): Promise<Finding[]> {
  const { config, unreadable } = setup;
  const { SENDGRID_API_KEY: apiKey, SENDGRID_URL: url, SMTP_URL: smtpUrl } = config;
  if (['SENDGRID_API_KEY', 'SENDGRID_URL', 'SMTP_URL'].some(unreadable)) return [];
  if (apiKey !== undefined) {
    const checked = { id: 'messages.sendgrid', service: 'SendGrid', variable: 'SENDGRID_API_KEY', why: noMails };
    return [toFinding(setup, checked, await checkSendGrid({ apiKey, url }))];
  }
  if (smtpUrl === undefined) return [];
  const checked = { id: 'messages.smtp', service: 'The mail server', variable: 'SMTP_URL', why: noMails };
  return [toFinding(setup, checked, await checkSmtp(smtpUrl))];
}

async function textService(setup: Setup): Promise<Finding[]> {
  const { config, unreadable } = setup;
  const { TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken, TWILIO_URL: url } = config;
  if (accountSid === undefined || authToken === undefined || unreadable('TWILIO_URL')) return [];
  const why = 'Codes by text message do not leave: members with that second factor cannot sign in.';
  const checked = {
    id: 'messages.twilio',
    service: 'Twilio',
    variable: 'TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN',
    why,
  };
  return [toFinding(setup, checked, await checkTwilio({ accountSid, authToken, url }))];
}

/**
 * With the name servers of this host. If these do not answer, Node.js waits for half a minute and more for each.
 * @param servers instead of this host's, as `address:port`
 */
export function textRecords(name: string, servers?: readonly string[]): Promise<string[][]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  return resolver.resolveTxt(name);
}

type Records = string[] | { failed: string };

/** The TXT records of a name; none if the name does not exist. */
async function findRecords({ web, say }: Setup, name: string): Promise<Records> {
  try {
    return (await (web.resolveTxt ?? textRecords)(name)).map((parts) => parts.join(''));
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : { failed: say(error) };
  }
}

/** Selectors of mail services; a DKIM key cannot be found without its selector. */
const selectors = ['s1', 's2', 'selector1', 'selector2', 'default', 'dkim', 'mail', 'google', 'k1', 'smtp'];

const toProve = (what: string) => `Set the record that your mail service names for it (${what}).`;
const asSpam = 'Mailboxes take mails of a domain that proves nothing for spam: codes do not arrive.';

async function spf(setup: Setup, domain: string): Promise<Finding | undefined> {
  const records = await findRecords(setup, domain);
  if ('failed' in records) {
    return note('messages.dns', {
      seen: `The DNS records of ${domain} could not be looked up: ${records.failed}`,
      why: 'SPF, DKIM and DMARC of MAIL_FROM are not looked at.',
      todo: 'Run this where names can be resolved.',
    });
  }
  const found = records.filter((record) => /^v=spf1( |$)/i.test(record));
  if (found.length === 1) return ok('messages.spf', `${domain} has an SPF record.`);
  return warning('messages.spf', {
    seen: found.length === 0 ? `${domain} has no SPF record.` : `${domain} has ${found.length} SPF records.`,
    why: found.length === 0 ? asSpam : 'RFC 7208, section 4.5: more than one counts as an error.',
    todo: found.length === 0 ? toProve(`TXT of ${domain}, v=spf1 …`) : 'Join them in one record.',
  });
}

async function dmarc(setup: Setup, domain: string): Promise<Finding> {
  const names = new Set([domain, parse(domain).domain ?? domain]);
  for (const name of names) {
    const records = await findRecords(setup, `_dmarc.${name}`);
    if (!('failed' in records) && records.some((record) => /^v=DMARC1 *;/i.test(record))) {
      return ok('messages.dmarc', `${name} has a DMARC record.`);
    }
  }
  return warning('messages.dmarc', {
    seen: `${domain} has no DMARC record.`,
    why: 'Large mail services ask for one (RFC 7489), and others can send mails in your name.',
    todo: toProve(`TXT of _dmarc.${domain}, v=DMARC1; p=none at first`),
  });
}

async function dkim(setup: Setup, domain: string): Promise<Finding> {
  const found = await Promise.all(
    selectors.map(async (selector) => {
      const records = await findRecords(setup, `${selector}._domainkey.${domain}`);
      return !('failed' in records) && records.some((record) => /(^|;)\s*p=[A-Za-z0-9+/]/.test(record)) ? selector : '';
    }),
  );
  const known = found.filter(Boolean);
  if (known.length > 0) return ok('messages.dkim', `${domain} has a DKIM key (selector ${known.join(', ')}).`);
  return note('messages.dkim', {
    seen: `No DKIM key of ${domain} was found under the usual selectors.`,
    why: `It may have another selector, which only your mail service knows. ${asSpam}`,
    todo: 'Run `foyer mail send welcome --to` your own address, and look for dkim=pass in the Authentication-Results header.',
  });
}

/** Records with which mailboxes judge a mail: only if mails are sent, and for the domain of their sender. */
async function sender(setup: Setup): Promise<Finding[]> {
  const { config, unreadable } = setup;
  const domain = config.MAIL_FROM?.address.split('@').at(-1);
  if (domain === undefined || unreadable('MAIL_FROM')) return [];
  const first = await spf(setup, domain);
  if (first?.id === 'messages.dns') return [first];
  const others = await Promise.all([dkim(setup, domain), dmarc(setup, domain)]);
  return [...(first ? [first] : []), ...others];
}

/** Checks whether mails and text messages can be sent, without sending one. */
export async function checkMessages(setup: Setup): Promise<Finding[]> {
  const { config } = setup;
  if (config.SANDBOX) return [ok('messages.sandbox', 'Mails and text messages stay in the sandbox’s mailbox.')];
  const found = await Promise.all([mailService(setup), textService(setup), config.production ? sender(setup) : []]);
  return found.flat();
}
