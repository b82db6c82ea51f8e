import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JSONWebKeySet } from 'jose';
import { readSpeed } from '../../scripts/lib/test-selection.mjs';
import { thorough } from '../support/thorough.ts';
import { basicOpModules } from './basic-op-modules.ts';
import { checkStandardClaims, Findings, type Json } from './certification-conditions.ts';
import { checkDiscovery } from './certification-discovery.ts';
import { Flow, type Metadata, type Target } from './certification-flow.ts';
import { type CertificationServer, startCertificationServer } from './certification-server.ts';

const plans = ['Basic OP', 'Form Post OP'] as const;
type Plan = (typeof plans)[number];

/** The table of docs/conformance.md: module, demand, and the result in each plan. */
function readResults(): Map<string, Record<Plan, string>> {
  const text = readFileSync(join(import.meta.dirname, '../../docs/conformance.md'), 'utf8');
  const part = /\n## Basic OP\n(.*?)\n## /s.exec(text)?.[1] ?? '';
  const rows = part.matchAll(/^\| `(oidcc-[\w-]+)` \| [^|]+ \| (\w+) \| (\w+) \|$/gm);
  return new Map(
    [...rows].map(([, name = '', basic = '', formPost = '']) => [
      name,
      { 'Basic OP': basic, 'Form Post OP': formPost },
    ]),
  );
}

const names = Object.keys(basicOpModules);
/** It waits for half a minute, so it begins first and is read last. */
const slow = 'oidcc-codereuse-30seconds';
const quick: [Plan, string][] = [
  ['Basic OP', 'oidcc-server'],
  ['Basic OP', 'oidcc-response-type-missing'],
  ['Basic OP', 'oidcc-scope-all'],
  ['Basic OP', 'oidcc-prompt-none-logged-in'],
  ['Basic OP', 'oidcc-ensure-post-request-succeeds'],
  ['Form Post OP', 'oidcc-server'],
  ['Form Post OP', 'oidcc-prompt-none-not-logged-in'],
];
const isQuick = (plan: Plan, name: string) => quick.some(([ofPlan, module]) => ofPlan === plan && module === name);
const all = plans.flatMap((plan) => names.map((name): [Plan, string] => [plan, name]));
const others = all.filter(([plan, name]) => name !== slow && !isQuick(plan, name));

/**
 * The plans Basic OP, Form Post OP and Config OP of the OpenID Foundation against the built product: a process in
 * production mode behind a proxy with TLS, with clients of `foyer client add --certification`. A module passes if
 * nothing fails and nothing is a warning. Our members have filled in everything that Foyer asks for.
 */
describe('modules of the OpenID Foundation’s plans for providers', () => {
  const results = readResults();
  const early = new Map<Plan, Promise<Findings>>();
  let server: CertificationServer;
  let common: Omit<Target, 'member'>;
  let discovery: Response;
  beforeAll(async () => {
    server = await startCertificationServer();
    discovery = await server.browser().get('/.well-known/openid-configuration');
    const metadata = (await discovery.clone().json()) as Metadata;
    const keys = (await (await server.browser().get(String(metadata.jwks_uri))).json()) as JSONWebKeySet;
    common = { server, metadata, keys };
    if (readSpeed(process.env) === 'all') for (const plan of plans) early.set(plan, run(plan, slow));
  });
  afterAll(() => server?.stop());

  async function run(plan: Plan, name: string): Promise<Findings> {
    const [first, second] = server.members;
    const target: Target =
      plan === 'Basic OP' ? { ...common, member: first } : { ...common, member: second, responseMode: 'form_post' };
    return runModule(target, name);
  }

  async function runModule(target: Target, name: string): Promise<Findings> {
    const flow = new Flow(target);
    try {
      await basicOpModules[name]?.(flow);
    } catch (error) {
      flow.findings.failures.push(String(error));
    }
    return flow.findings;
  }

  async function expectResult(plan: Plan, name: string): Promise<void> {
    const { result, failures, warnings } =
      (await (name === slow ? early.get(plan) : undefined)) ?? (await run(plan, name));
    expect({ result, failures, warnings }).toEqual({ result: results.get(name)?.[plan], failures: [], warnings: [] });
  }

  it('docs/conformance.md has exactly the 35 modules of the plans Basic OP and Form Post OP, and none that fails', () => {
    expect([...results.keys()]).toEqual(names);
    expect(names).toHaveLength(35);
    const found = new Set([...results.values()].flatMap((ofPlans) => Object.values(ofPlans)));
    expect([...found].toSorted()).toEqual(['passed', 'review', 'skipped']);
  });

  it('oidcc-discovery-endpoint-verification: discovery and keys have all that the plan Config OP demands', () => {
    const findings = new Findings();
    const { metadata, keys } = common;
    checkDiscovery(findings, discovery, { metadata, keys: keys.keys as Json[], issuer: server.issuer });
    expect([findings.result, findings.failures, findings.warnings]).toEqual(['passed', [], []]);
  });

  it.each(quick)('The result of %s, %s, is that of docs/conformance.md, without failure and warning', expectResult);

  thorough.each(others)('The result of %s, module %s, is that of docs/conformance.md', expectResult);

  thorough.each(plans.map((plan): [Plan, string] => [plan, slow]))(
    'The result of %s, slow module %s, is that of docs/conformance.md',
    expectResult,
  );

  thorough.each(names.filter((name) => /scope|claims-essential|alternate/.test(name)))(
    'The module %s warns of nothing but claims that a new member has not given',
    async (name) => {
      const { failures, warnings } = await runModule({ ...common, member: server.newcomer }, name);
      expect(failures).toEqual([]);
      for (const warning of warnings) expect(warning).toMatch(/^userinfo (?:lacks|has no) /);
      expect(warnings).toHaveLength(/email|alternate/.test(name) ? 0 : 1);
    },
  );

  it('A claim of another shape than the standard’s fails a module', () => {
    const wrong = {
      email_verified: 'true',
      phone_number_verified: 1,
      updated_at: '1700000000',
      address: 'Berlin',
      name: '',
      birthdate: '10.12.1990',
      picture: null,
    };
    for (const [name, value] of Object.entries(wrong)) {
      const findings = new Findings();
      checkStandardClaims(findings, { sub: 'a', [name]: value }, 'userinfo');
      expect([name, findings.result, findings.failures.length]).toEqual([name, 'failed', 1]);
    }
    const millis = new Findings();
    checkStandardClaims(millis, { updated_at: Date.now() }, 'userinfo');
    expect(millis.result).toBe('failed');
  });
});
