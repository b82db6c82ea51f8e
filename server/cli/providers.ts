import { loadConfig } from '../../config/load.ts';
import { loadProviders } from '../../config/providers.ts';
import { writtenProvidersFile } from '../../config/stand-in-providers.ts';
import { standardKinds, standardProviders } from '../../config/standard-providers.ts';
import { checkProviders, describeProviders, listRefusals, type StrategySettings } from '../federation/index.ts';
import type { Program } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes } from './errors.ts';
import type { CliIo, Result } from './io.ts';
import { providerImportCommand } from './provider-import/command.ts';
import { counted, moment, numericDate, table } from './text.ts';

/** The dependencies of these commands: no store is opened. @throws {ConfigurationError} @throws {ProvidersFileError} */
function readProviderSetup({ env, now = Date.now }: CliIo): StrategySettings {
  const config = loadConfig(env);
  return { publicUrl: config.PUBLIC_URL, config, file: loadProviders(writtenProvidersFile(config), env), now };
}

function listProviders(setup: StrategySettings): Result {
  const described = describeProviders(setup);
  const rows = described.map(({ id, kind, name, signUp, secondFactor, domains, register }) => [
    ...[id, kind, name, signUp ? 'yes' : 'no', secondFactor, domains.join(' ')],
    Object.entries(register)
      .map(([what, address]) => `${what}: ${address}`)
      .join(' '),
  ]);
  const json = described.map(({ signUp, secondFactor, ...rest }) => ({
    ...rest,
    sign_up: signUp,
    second_factor: secondFactor,
  }));
  const headings = ['id', 'kind', 'name', 'sign-up', 'second factor', 'domains', 'register there'];
  const none = 'There are none: members sign in by password or passkey.';
  const reusable = described
    .filter(({ subject }) => subject === 'reusable')
    .map(
      ({ id }) =>
        `${id}: the provider may give its NameIDs to other people later (docs/providers.md, "Names that change hands").`,
    );
  return { json, text: rows.length === 0 ? none : [table(headings, rows), ...reusable].join('\n') };
}

async function checkAllProviders(setup: StrategySettings, only: string | undefined): Promise<Result> {
  const reports = await checkProviders(setup, only);
  if (only !== undefined && reports.length === 0) throw unknownProvider(only);
  const faulty = reports.filter(({ faults }) => faults.length > 0).length;
  const rows = reports.flatMap(({ id, faults, warnings, unseen }) => {
    const submitted = [...faults.map((text) => ['FAULT', text]), ...warnings.map((text) => ['warning', text])];
    const seen = submitted.length === 0 ? [['ok', '']] : submitted;
    return [...seen, ...unseen.map((text) => ['unseen', text])].map((line) => [id, ...line]);
  });
  const fault = `${counted(faulty, 'provider')} with a fault.`;
  return {
    json: { ok: faulty === 0, providers: reports },
    text: table(['id', 'state', 'what'], rows, 'There are none to be checked.'),
    error: faulty > 0 ? new CliError(exitCodes.refused, fault) : undefined,
  };
}

const unknownProvider = (id: string) =>
  new CliError(exitCodes.notFound, `There is no provider ${id}; foyer provider list says which there are.`);

async function showRefusals({ kv }: Context, id: string): Promise<Result> {
  const refusals = await listRefusals(kv, id);
  const rows = refusals.map(({ atMs, outcome, detail }) => [moment(atMs), outcome, detail]);
  return {
    json: refusals.map(({ atMs, ...refusal }) => ({ at: numericDate(atMs), ...refusal })),
    text: table(['when', 'outcome', 'reason'], rows, `No sign-in by ${id} has been refused in the last seven days.`),
  };
}

export function providerCommands({ group, io }: Program): void {
  const names = standardKinds.map((kind) => standardProviders[kind].name).join(', ');
  const about = `the providers by which members sign in: ${names}, and those of PROVIDERS_FILE`;
  const add = group('provider', about);
  add('list', {
    description: 'which there are, and what to register at each',
    json: 'print JSON',
    help: '\nAsks no provider.\n\nExample:\n  foyer provider list',
    run: () => listProviders(readProviderSetup(io)),
  });
  add('check', {
    description: 'ask each provider whether it is as the configuration says',
    args: [['[id]', 'only this one']],
    json: 'print JSON: {"ok", "providers": [{"id", "faults": [...], "warnings": [...], "unseen": [...]}]}',
    help: `
Fetches discovery documents and SAML metadata, compares issuers, addresses and certificates, says when a certificate ends, and
shows each provider the credentials with a code that it has issued to no one. Changes nothing; exit code 1 when there is a fault.
"unseen" names settings at the provider that cannot be seen from here: look at them there when a sign-in fails.

Example:
  foyer provider check acme`,
    run: (id: string | undefined) => checkAllProviders(readProviderSetup(io), id),
  });
  add('refusals', {
    description: 'the last sign-ins by a provider that were refused, and why',
    args: [['<id>', 'the provider']],
    json: 'print JSON: [{"at", "outcome", "detail"}]',
    help: `
At most 20, of the last seven days. docs/providers.md explains each outcome. Sign-ins that were canceled, came too late or belong to
no attempt of the browser stand in the log alone.

Example:
  foyer provider refusals acme`,
    run(id: string) {
      if (!describeProviders(readProviderSetup(io)).some((one) => one.id === id)) throw unknownProvider(id);
      return (context) => showRefusals(context, id);
    },
  });
  providerImportCommand(add, io);
}
