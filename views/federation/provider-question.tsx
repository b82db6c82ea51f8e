import type { ReactNode } from 'react';
import { AuthLayout } from '../layout/auth-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Script } from '../parts/script.tsx';
import { SummaryList } from '../parts/summary-list.tsx';

/** The visitor's data at a provider; either may be ''. */
export interface PersonThere {
  name: string;
  email: string;
}

/** The name and address of a person in one line. */
export const personLine = ({ name, email }: PersonThere): string =>
  [name, email].filter((part) => part !== '').join(' · ');

interface ProviderQuestionProps {
  ctx: PageContext;
  title: string;
  lead: string;
  /** The accounts that the question is about. */
  accounts: readonly { label: string; amount: string }[];
  note: string;
  /** The form with the answers. */
  children: ReactNode;
}

/** Asks a visitor about an identity of a provider before it signs anyone in. */
export function ProviderQuestion({ ctx, title, lead, accounts, note, children }: ProviderQuestionProps) {
  return (
    <AuthLayout ctx={ctx}>
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{title}</h1>
        <p className="muted">{lead}</p>
      </div>
      <SummaryList people lines={accounts} note={[note]} />
      {children}
    </AuthLayout>
  );
}

interface ProviderAccountQuestionProps extends Omit<ProviderQuestionProps, 'accounts'> {
  /** The name of the provider. */
  provider: string;
  there: PersonThere;
}

/** The same about the account at the provider alone. */
export function ProviderAccountQuestion({ provider, there, ...question }: ProviderAccountQuestionProps) {
  const { t } = question.ctx;
  const account = {
    label: t('federation.unsolicited.who', { provider }),
    amount: personLine(there) || t('federation.unsolicited.nameless'),
  };
  return <ProviderQuestion accounts={[account]} {...question} />;
}
