import type { Command } from 'commander';
import { withContext } from './context.ts';
import type { Act, CliIo } from './io.ts';
import { rotate, showKeys } from './keys.ts';

export function keyCommands(program: Command, io: CliIo, act: Act): void {
  const keys = program.command('keys').description('the keys that sign id tokens');

  keys
    .command('list')
    .description('all keys that are published, with their state')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
  next     is published and does not sign yet
  active   signs
  retired  signs no more; what it signed still verifies

Example:
  foyer keys list`,
    )
    .action((options: { json?: boolean }) => act(() => withContext(io, showKeys), options));

  keys
    .command('rotate')
    .description('make new keys; the present ones keep verifying')
    .option(
      '--now',
      'sign with the new keys at once, for when a key has leaked: some client apps may stumble for a minute',
    )
    .option('--json', 'print JSON: {"signs_from", "old_published_until", "keys": [...]}')
    .addHelpText(
      'after',
      `
New keys are published first and sign when every running Foyer and every cache has them (the output says when). Old ones
are published for REMEMBER_ME_DAYS + 1 days more. No restart is needed.

Examples:
  foyer keys rotate
  foyer keys rotate --now`,
    )
    .action((options: { now?: boolean; json?: boolean }) =>
      act(() => withContext(io, (context) => rotate(context, { atOnce: options.now ?? false })), options),
    );
}
