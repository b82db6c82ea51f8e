import type { Command } from 'commander';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo } from './io.ts';
import { checkAllProviders, listProviders, readProviderSetup } from './providers.ts';
import { counted } from './text.ts';

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
