import type { Command } from 'commander';
import { countLevels, report } from './doctor/report.ts';
import { examine } from './doctor/run.ts';
import { readSetup } from './doctor/setup.ts';
import { CliError, exitCodes } from './errors.ts';
import type { Act, CliIo } from './io.ts';
import { counted } from './text.ts';

export function doctorCommand(program: Command, io: CliIo, act: Act): void {
  program
    .command('doctor')
    .description(
      'check this installation and explain what it finds: configuration, stores, keys, mail, clocks, address, proxy',
    )
    .option('--json', 'print JSON: {"ok", "counts", "findings": [{"id", "area", "level", "seen", "why", "todo"}]}')
    .addHelpText(
      'after',
      `
Levels: ok, note, WARNING (will hurt one day), FAULT (hurts now: exit code 4). Changes nothing, and prints no secret. Give it
the server's environment, and run it while the server runs: then its address and its proxy are looked at too.

Example:
  foyer doctor`,
    )
    .action(async (options: { json?: boolean }) => {
      const findings = await examine(readSetup(io.env, io.now ?? Date.now, io.web));
      await act(async () => report(findings), options);
      const { fault } = countLevels(findings);
      if (fault > 0) throw new CliError(exitCodes.trouble, `foyer doctor has found ${counted(fault, 'fault')}.`);
    });
}
