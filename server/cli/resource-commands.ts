import { type Command, Option } from 'commander';
import { type ResourceServer, signingAlgorithms } from '../oidc/index.ts';
import { withContext } from './context.ts';
import type { Act, CliIo } from './io.ts';
import { addResource, removeResource, showResources } from './resources.ts';

interface Options {
  scope: string[];
  alg: ResourceServer['alg'];
  json?: boolean;
}

export function resourceCommands(program: Command, io: CliIo, act: Act): void {
  const resources = program.command('resource').description('APIs of the marketplace that take JWT access tokens');

  resources
    .command('add')
    .description('register a resource server')
    .argument('<identifier>', 'its absolute URI, which its tokens name as their audience')
    .requiredOption('--scope <SCOPE...>', 'what client apps may ask for at it')
    .addOption(new Option('--alg <ALG>', 'how its tokens are signed').choices([...signingAlgorithms]).default('ES256'))
    .option('--json', 'print JSON: {"identifier", "scopes", "alg"}')
    .addHelpText(
      'after',
      '\nIts tokens live for 5 minutes and cannot be revoked.\n\nExample:\n  foyer resource add https://api.example.com/ --scope orders:read orders:write',
    )
    .action((identifier: string, options: Options) =>
      act(() => withContext(io, (context) => addResource(context, identifier, options)), options),
    );

  resources
    .command('list')
    .description('all resource servers')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  foyer resource list')
    .action((options: Options) => act(() => withContext(io, showResources), options));

  resources
    .command('remove')
    .description('give no more tokens for a resource server')
    .argument('<identifier>', 'its URI')
    .option('--json', 'print JSON: {"identifier", "removed", "clients": [...]}')
    .addHelpText('after', '\nExample:\n  foyer resource remove https://api.example.com/')
    .action((identifier: string, options: Options) =>
      act(() => withContext(io, (context) => removeResource(context, identifier)), options),
    );
}
