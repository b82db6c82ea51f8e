import type { Express, Request, Response } from 'express';
import express from 'express';
import { type Answer, isBroken } from './answers.ts';
import { randomText } from './grants.ts';
import { sendChooser, sendFault } from './pages.ts';
import { listPeople, type Person, type StandInKind } from './people.ts';

/** A request that a provider answers once the person is known. */
interface Question {
  kind: StandInKind;
  /** The name of the requesting app for people. */
  app: string;
  /** The app's login hint. */
  hint?: string | undefined;
  answer(res: Response, answer: Answer): void | Promise<void>;
}

/** The account chooser of all providers. */
export interface AccountChooser {
  /** Answers at once if a program has planned an answer, or shows the account chooser. */
  ask(req: Request, res: Response, question: Question): Promise<void>;
  /** The answer to the next request (of this kind), instead of a page; once. */
  answerNext(answer: Answer, kind?: StandInKind): void;
}

const chooserPath = '/providers/choose';
const maxPending = 200;

/** The person that was chosen or typed on the page. @returns undefined: none of its buttons */
function readAnswer(kind: StandInKind, people: readonly Person[], body: Record<string, unknown>): Answer | undefined {
  const field = (name: string) => (typeof body[name] === 'string' ? body[name].trim() : '');
  const [first] = people;
  const at = Number(field('person'));
  const person = field('person') === '' ? undefined : people[at];
  if (field('refuse') !== '') return {};
  const broken = field('broken');
  if (isBroken(kind, broken)) return { person: first, broken };
  if (person) return { person };
  if (field('other') === '') return undefined;
  const [givenName = '', ...family] = (field('name') || 'Someone Else').split(/\s+/);
  const email = field('email');
  return {
    person: {
      givenName,
      familyName: family.join(' '),
      emailVerified: field('verified') !== '',
      ...(email !== '' && { email }),
    },
  };
}

/** @param peopleAt the selectable people */
export function createAccountChooser(
  app: Express,
  peopleAt: (kind: StandInKind) => Person[] = listPeople,
): AccountChooser {
  const pending = new Map<string, Question>();
  const planned: { answer: Answer; kind: StandInKind | undefined }[] = [];

  app.post(chooserPath, express.urlencoded({ extended: false }), async (req, res) => {
    const body = (req.body ?? {}) as Record<string, unknown>;
    const question = pending.get(String(body.request));
    if (!question) {
      const text = 'Go back to the app, and begin anew.';
      return sendFault(res, { status: 404, title: 'This page is too old', text });
    }
    const people = peopleAt(question.kind);
    const answer = readAnswer(question.kind, people, body);
    if (!answer) {
      return sendChooser(res, 400, { ...question, request: String(body.request), people, action: chooserPath });
    }
    await question.answer(res, answer);
  });

  return {
    async ask(_req, res, question) {
      const at = planned.findIndex(({ kind }) => kind === undefined || kind === question.kind);
      const [plan] = at < 0 ? [] : planned.splice(at, 1);
      if (plan) return question.answer(res, plan.answer);
      const request = randomText(16);
      if (pending.size >= maxPending) pending.delete(pending.keys().next().value ?? '');
      pending.set(request, question);
      sendChooser(res, 200, { ...question, request, people: peopleAt(question.kind), action: chooserPath });
    },
    answerNext(answer, kind) {
      planned.push({ answer, kind });
    },
  };
}
