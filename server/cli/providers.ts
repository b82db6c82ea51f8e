import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { loadProviders } from '../../config/providers.ts';
import { writtenProvidersFile } from '../../config/stand-in-providers.ts';
import { checkProviders, describeProviders, type StrategySettings } from '../federation/index.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo, Result } from './io.ts';
import { counted, table } from './text.ts';

/** The dependencies of these commands: no store is opened. @throws {ConfigurationError} @throws {ProvidersFileError} */
function readProviderSetup(env: NodeJS.ProcessEnv, now: () => number): StrategySettings {
  const config = loadConfig(env);
  return { publicUrl: config.PUBLIC_URL, config, file: loadProviders(writtenProvidersFile(config), env), now };
}

async function listProviders(setup: StrategySettings): Promise<Result> {
  const described = describeProviders(setup);
  const rows = described.map(({ id, kind, name, signUp, secondFactor, domains, register }) => [
    ...[id, kind, name, signUp ? 'yes' : 'no', secondFactor, domains.join(' ')],
    Object.values(register).join(' '),
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

async function checkAllProviders(
  setup: StrategySettings,
  only: string | undefined,
): Promise<{ faulty: number; result: Result }> {
  const reports = await checkProviders(setup, only);
  if (only !== undefined && reports.length === 0)
    throw new CliError(exitCodes.notFound, `There is no provider ${only}; foyer provider list says which there are.`);
  const faulty = reports.filter(({ faults }) => faults.length > 0).length;
  const rows = reports.flatMap(({ id, faults, warnings }) => {
    const submitted = [...faults.map((text) => ['FAULT', text]), ...warnings.map((text) => ['warning', text])];
    return (submitted.length === 0 ? [['ok', '']] : submitted).map((line) => [id, ...line]);
  });
  const none = 'There are none to be checked.';
  return {
    faulty,
    result: {
      json: { ok: faulty === 0, providers: reports },
      text: rows.length === 0 ? none : table(['id', 'state', 'what'], rows),
    },
  };
}

export function providerCommands(program: Command, io: CliIo, act: Act): void {
  const provider = program
    .command('provider')
    .description('the providers by which members sign in: Google, Facebook, Amazon, and those of PROVIDERS_FILE');
  const setup = () => readProviderSetup(io.env, io.now ?? Date.now);

  provider
    .command('list')
    .description('which there are, and what to register at each')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nAsks no provider.\n\nExample:\n  foyer provider list')
    .action((options: { json?: boolean }) => act(() => listProviders(setup()), options));

  provider
    .command('check')
    .description('ask each provider whether it is as the configuration says')
    .argument('[id]', 'only this one')
    .option('--json', 'print JSON: {"ok", "providers": [{"id", "faults": [...], "warnings": [...]}]}')
    .addHelpText(
      'after',
      `
Fetches discovery documents and SAML metadata, compares issuers, addresses and certificates, says when a certificate ends, and
shows each provider the credentials with a code that it has issued to no one. Changes nothing; exit code 1 when there is a fault.

Example:
  foyer provider check acme`,
    )
    .action(async (id: string | undefined, options: { json?: boolean }) => {
      const { faulty, result } = await checkAllProviders(setup(), id);
      await act(async () => result, options);
      if (faulty > 0) throw new CliError(exitCodes.refused, `${counted(faulty, 'provider')} with a fault.`);
    });
}
