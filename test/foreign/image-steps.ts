import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { root } from '../../scripts/lib/processes.mjs';

/** Does the steps of config/docker/Dockerfile one by one, in folders of this machine instead of layers of an image. */

const run = promisify(execFile);
const unprivileged = 65_534;

/** The file system of one stage, and what its instructions have set. */
export interface Stage {
  folder: string;
  workdir: string;
  env: Record<string, string>;
  uid: number | undefined;
  command: string[];
  healthcheck: string[];
}

/** The files that Docker sends: those of git, without those that the ignore file names. */
async function listContext(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const ignored = (await readFile(join(root, 'config/docker/Dockerfile.dockerignore'), 'utf8')).trim().split('\n');
  return stdout
    .trim()
    .split('\n')
    .filter((path) => !ignored.some((pattern) => matchesGlob(path, pattern) || path.startsWith(`${pattern}/`)));
}

const place = (stage: Stage, path: string) =>
  join(stage.folder, path.startsWith('/') ? path : join(stage.workdir, path));

async function copyContext(stage: Stage, sources: string[], target: string): Promise<void> {
  const wanted = (path: string) => sources.some((source) => source === '.' || path === source);
  for (const path of (await listContext()).filter(wanted)) {
    const name = sources.includes('.') ? path : (path.split('/').at(-1) ?? '');
    const to = join(place(stage, target), name);
    await mkdir(dirname(to), { recursive: true });
    await cp(join(root, path), to);
  }
}

async function copy(stage: Stage, instruction: Instruction, stages: ReadonlyMap<string, Stage>): Promise<void> {
  const words = instruction.getArguments().map((argument) => argument.getValue());
  const [, name] = /--from=(\S+)/.exec(instruction.getTextContent()) ?? [];
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = paths.at(-1) ?? '.';
  if (name === undefined) return copyContext(stage, paths.slice(0, -1), target);
  const source = stages.get(name);
  if (!source) throw new Error(`${name} is no stage before this one`);
  for (const path of paths.slice(0, -1)) {
    const from = place(source, path);
    const to = target.endsWith('/') ? join(place(stage, target), path.split('/').at(-1) ?? '') : place(stage, target);
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
  }
}

/** The image has a user named node; absolute paths are those of the stage. */
const onThisMachine = (stage: Stage, command: string) =>
  command
    .replace('-o node -g node', `-o ${unprivileged} -g ${unprivileged}`)
    .replaceAll(' /data', ` ${stage.folder}/data`);

const words = (instruction: Instruction) => instruction.getArgumentsContent() ?? '';
const parseList = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')).replaceAll('\\\n', ''));

async function perform(stage: Stage, instruction: Instruction, stages: ReadonlyMap<string, Stage>): Promise<void> {
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      stage.workdir = words(instruction);
      await mkdir(place(stage, '.'), { recursive: true });
      return;
    case 'ENV':
      for (const [, name = '', quoted, plain] of words(instruction).matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g))
        stage.env[name] = quoted ?? plain ?? '';
      return;
    case 'COPY':
      return copy(stage, instruction, stages);
    case 'RUN': {
      // The machine's own settings of npm lead to its registry; those of the tests are none of the image's.
      const { NODE_ENV, NODE_OPTIONS, NODE_COMPILE_CACHE, FOYER_TEST, ...machine } = process.env;
      const env = { ...machine, ...stage.env };
      await run('sh', ['-c', onThisMachine(stage, words(instruction))], {
        cwd: place(stage, '.'),
        env,
        maxBuffer: 1e8,
      });
      return;
    }
    case 'USER':
      stage.uid = unprivileged;
      return;
    case 'HEALTHCHECK':
      stage.healthcheck = parseList(words(instruction));
      return;
    case 'CMD':
      stage.command = parseList(words(instruction));
      return;
    case 'VOLUME':
    case 'EXPOSE':
      return;
    default:
      throw new Error(`no step for ${instruction.getTextContent()}`);
  }
}

/** @returns the last stage, after all steps. @throws {Error} what the first failed step printed */
export async function performSteps(dockerfile: string, folder: string): Promise<Stage> {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const instruction of DockerfileParser.parse(dockerfile).getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const name = /\bAS (\w+)/i.exec(instruction.getTextContent())?.[1] ?? 'last';
      stage = { folder: join(folder, name), workdir: '/', env: {}, uid: undefined, command: [], healthcheck: [] };
      await mkdir(stage.folder, { recursive: true });
      stages.set(name, stage);
    } else if (stage) await perform(stage, instruction, stages);
  }
  if (!stage) throw new Error('there is no FROM');
  for (const path of [folder, stage.folder]) await chmod(path, 0o755);
  await chown(join(stage.folder, 'data'), unprivileged, unprivileged);
  return stage;
}
