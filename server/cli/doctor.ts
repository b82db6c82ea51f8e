import type { Program } from './command.ts';
import { countLevels, report } from './doctor/report.ts';
import { examine } from './doctor/run.ts';
import { readSetup } from './doctor/setup.ts';
import { CliError, exitCodes } from './errors.ts';
import type { CliIo, Result } from './io.ts';
import { counted } from './text.ts';

async function runDoctor({ env, now = Date.now, web }: CliIo): Promise<Result> {
  const findings = await examine(readSetup(env, now, web));
  const { fault } = countLevels(findings);
  const summary = `foyer doctor has found ${counted(fault, 'fault')}.`;
  return { ...report(findings), error: fault > 0 ? new CliError(exitCodes.trouble, summary) : undefined };
}

export const doctorCommand = ({ add, io }: Program): void =>
  add('doctor', {
    description:
      'check this installation and explain what it finds: configuration, stores, keys, mail, clocks, address, proxy',
    json: 'print JSON: {"ok", "counts", "findings": [{"id", "area", "level", "seen", "why", "todo"}]}',
    help: `
Levels: ok, note, WARNING (will hurt one day), FAULT (hurts now: exit code 4). Changes nothing, and prints no secret. Give it
the server's environment, and run it while the server runs: then its address and its proxy are looked at too.

Example:
  foyer doctor`,
    run: () => runDoctor(io),
  });
