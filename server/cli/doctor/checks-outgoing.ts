import type { Finding } from './finding.ts';
import { fault, note, ok, table } from './table.ts';

/** A tunnel that a proxy was asked for: the status of its answer, or the reason that there is none. */
export type ProxyProbe = { proxy: string; authority: string } & ({ status: number } | { failed: string });

interface OutgoingFacts {
  /** Host and port of each configured proxy. */
  proxies: string[];
  probes: ProxyProbe[];
  /** The services that are called directly, by NO_PROXY. */
  direct: string[];
  /** Entries of NO_PROXY without effect. */
  ineffective: string[];
}

const unsent = 'Mails, payments, sign-ins by a provider and sign-outs of client apps that go through it fail.';

function judgeProbe(probe: ProxyProbe): Finding[] {
  const { proxy, authority } = probe;
  const failed = 'failed' in probe ? probe.failed : undefined;
  const status = 'status' in probe ? probe.status : 0;
  return table('outgoing', [
    fault('outgoing.proxy', failed !== undefined)`The proxy ${proxy} does not answer: ${failed}
    Why: ${unsent}
    Do: Check HTTPS_PROXY and HTTP_PROXY, and that this host may connect to it; or remove them.`,
    fault('outgoing.proxy', status === 407)`The proxy ${proxy} does not accept the credentials.
    Why: ${unsent}
    Do: Write user:password@ before the host in HTTPS_PROXY, with %40 for an @, and so on.`,
    fault(
      'outgoing.proxy',
      status < 200 || status > 299,
    )`The proxy ${proxy} does not connect to ${authority}: status ${status}.
    Why: What Foyer sends there does not arrive.
    Do: Let the proxy allow CONNECT to ${authority}, or name the host in NO_PROXY if this host may call it directly.`,
    ok('outgoing.proxy')`${authority} is reached through the proxy ${proxy}.`,
  ]);
}

/** The proxy for outgoing calls. */
export function judgeOutgoing({ proxies, probes, direct, ineffective }: OutgoingFacts): Finding[] {
  const failures = probes.filter((probe) => 'failed' in probe);
  // One finding for a proxy that is away, and not one for each service.
  const unlike = probes.filter((probe) => !('failed' in probe) || probe === failures[0]);
  return [
    ...unlike.flatMap(judgeProbe),
    ...table('outgoing', [
      ok(
        'outgoing.none',
        probes.length === 0,
      )`Calls to other hosts go through the proxy ${proxies.join(' and ')}; no service is configured to try it with.`,
      ok(
        'outgoing.direct',
        direct.length > 0,
      )`NO_PROXY: ${direct.join(', ')} ${direct.length === 1 ? 'is' : 'are'} called directly.`,
      note('outgoing.no-proxy', ineffective.length > 0)`NO_PROXY names ${ineffective.join(', ')}, which has no effect.
    Why: Only names of hosts and single addresses count: calls into such a network go through the proxy.
    Do: Name the hosts, or a domain, as in .internal.example.com.`,
    ]),
  ];
}
