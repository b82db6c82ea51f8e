import { Resolver } from 'node:dns/promises';
import { parse } from 'tldts';
import { proxyNames } from '../../../config/outgoing-proxy.ts';
import { checkMailService, checkTextService } from '../../carriers.ts';
import { isItemIn, propertyIn } from '../../shared/index.ts';
import { judgeCarrier, judgeSandboxMessages, judgeSender } from './checks-services.ts';
import type { Finding } from './finding.ts';
import type { Setup } from './setup.ts';

async function checkService(
  { config, unreadable, say }: Setup,
  names: readonly string[],
  check: typeof checkMailService,
): Promise<Finding[]> {
  if (names.some(unreadable)) return [];
  const found = await check(config);
  return found ? judgeCarrier(found.name, found.state, say) : [];
}

const mailNames = ['SENDGRID_API_KEY', 'SENDGRID_URL', 'SMTP_URL', ...proxyNames];
const textNames = [
  ...['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM', 'TWILIO_MESSAGING_SERVICE_SID', 'TWILIO_URL'],
  ...proxyNames,
];

/**
 * With the name servers of this host. If these do not answer, Node.js waits for half a minute and more for each.
 * @param servers instead of this host's, as `address:port`
 */
export function textRecords(name: string, servers?: readonly string[]): Promise<string[][]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  return resolver.resolveTxt(name);
}

/** The matching TXT records of a name; none if the name does not exist. @throws if there is no answer */
async function findRecords({ web }: Setup, name: string, pattern: RegExp): Promise<string[]> {
  try {
    const records = await (web.resolveTxt ?? textRecords)(name);
    return records.map((parts) => parts.join('')).filter((record) => pattern.test(record));
  } catch (error) {
    if (isItemIn(['ENOTFOUND', 'ENODATA'], propertyIn(error, 'code'))) return [];
    throw error;
  }
}

const hasRecord = (setup: Setup, name: string, pattern: RegExp): Promise<boolean> =>
  findRecords(setup, name, pattern).then(
    (records) => records.length > 0,
    () => false,
  );

/** Selectors of mail services; a DKIM key cannot be found without its selector. */
const selectorNames = ['s1', 's2', 'selector1', 'selector2', 'default', 'dkim', 'mail', 'google', 'k1', 'smtp'];

async function findSelectors(setup: Setup, domain: string): Promise<string[]> {
  const hasKey = await Promise.all(
    selectorNames.map((name) => hasRecord(setup, `${name}._domainkey.${domain}`, /(^|;)\s*p=[A-Za-z0-9+/]/)),
  );
  return selectorNames.filter((_, index) => hasKey[index]);
}

/** The domain itself, or its organization's (RFC 7489, section 6.6.3). */
async function findDmarc(setup: Setup, domain: string): Promise<string | undefined> {
  for (const name of new Set([domain, parse(domain).domain ?? domain])) {
    if (await hasRecord(setup, `_dmarc.${name}`, /^v=DMARC1 *;/i)) return name;
  }
  return undefined;
}

/** For the domain of MAIL_FROM. */
async function checkSender(setup: Setup): Promise<Finding[]> {
  const domain = setup.config.MAIL_FROM?.address.split('@').at(-1);
  if (domain === undefined || setup.unreadable('MAIL_FROM')) return [];
  try {
    const spf = (await findRecords(setup, domain, /^v=spf1( |$)/i)).length;
    const [selectors, dmarc] = await Promise.all([findSelectors(setup, domain), findDmarc(setup, domain)]);
    return judgeSender({ domain, spf, selectors, dmarc });
  } catch (error) {
    return judgeSender({ domain, failed: setup.say(error), spf: 0, selectors: [], dmarc: undefined });
  }
}

/** Checks whether mails and text messages can be sent, without sending one. */
export async function checkMessages(setup: Setup): Promise<Finding[]> {
  const { config } = setup;
  if (config.SANDBOX) return judgeSandboxMessages();
  const found = [
    checkService(setup, mailNames, checkMailService),
    checkService(setup, textNames, checkTextService),
    ...(config.production ? [checkSender(setup)] : []),
  ];
  return (await Promise.all(found)).flat();
}
