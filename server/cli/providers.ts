import type { Command } from 'commander';
import { loadConfig } from '../../config/load.ts';
import { loadProviders } from '../../config/providers.ts';
import { writtenProvidersFile } from '../../config/stand-in-providers.ts';
import { checkProviders, describeProviders, type StrategySettings } from '../federation/index.ts';
import { CliError, exitCodes } from './errors.ts';
import type { CliIo, Result } from './io.ts';
import type { JsonOption, Runner } from './runner.ts';
import { counted, table } from './text.ts';

/** The dependencies of these commands: no store is opened. @throws {ConfigurationError} @throws {ProvidersFileError} */
function readProviderSetup({ env, now = Date.now }: CliIo): StrategySettings {
  const config = loadConfig(env);
  return { publicUrl: config.PUBLIC_URL, config, file: loadProviders(writtenProvidersFile(config), env), now };
}

function listProviders(setup: StrategySettings): Result {
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

async function checkAllProviders(setup: StrategySettings, only: string | undefined): Promise<Result> {
  const reports = await checkProviders(setup, only);
  if (only !== undefined && reports.length === 0)
    throw new CliError(exitCodes.notFound, `There is no provider ${only}; foyer provider list says which there are.`);
  const faulty = reports.filter(({ faults }) => faults.length > 0).length;
  const rows = reports.flatMap(({ id, faults, warnings }) => {
    const submitted = [...faults.map((text) => ['FAULT', text]), ...warnings.map((text) => ['warning', text])];
    return (submitted.length === 0 ? [['ok', '']] : submitted).map((line) => [id, ...line]);
  });
  const none = 'There are none to be checked.';
  const fault = `${counted(faulty, 'provider')} with a fault.`;
  return {
    json: { ok: faulty === 0, providers: reports },
    text: rows.length === 0 ? none : table(['id', 'state', 'what'], rows),
    error: faulty > 0 ? new CliError(exitCodes.refused, fault) : undefined,
  };
}

export function providerCommands(program: Command, runner: Runner): void {
  const provider = program
    .command('provider')
    .description('the providers by which members sign in: Google, Facebook, Amazon, and those of PROVIDERS_FILE');
  const setup = () => readProviderSetup(runner.io);

  provider
    .command('list')
    .description('which there are, and what to register at each')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nAsks no provider.\n\nExample:\n  foyer provider list')
    .action((options: JsonOption) => runner.run(options, () => listProviders(setup())));

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
    .action((id: string | undefined, options: JsonOption) => runner.run(options, () => checkAllProviders(setup(), id)));
}
