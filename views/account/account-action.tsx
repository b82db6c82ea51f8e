import type { ReactNode } from 'react';
import { AccountLayout } from '../layout/account-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { DialogCard } from '../parts/dialog-card.tsx';
import { PageNotice, type PageNoticeProps } from '../parts/page-notice.tsx';
import { Script } from '../parts/script.tsx';
import { type AccountLocation, tabAddress } from './tabs.ts';

/** The result of a submission: a sentence that stays, or an error bar that disappears beside the fields' own texts. */
export interface ActionProblem {
  title?: string | undefined;
  text: string;
  passing?: boolean;
}

interface SettingsActProps {
  ctx: PageContext;
  /** Of the card, unique on its page. */
  id: string;
  title: string;
  lead?: string | undefined;
  /** The place of the changed data: closing leads there. */
  tab: AccountLocation;
  problem?: ActionProblem | undefined;
  children: ReactNode;
}

const toNotice = ({ passing, ...words }: ActionProblem): PageNoticeProps => ({
  kind: 'error',
  ...words,
  ...(passing && { duration: 'errorBar' }),
});

/** One action of the settings: a page of its own, whose card the home shows in a dialog. */
export function AccountAction({ ctx, id, title, lead, tab, problem, children }: SettingsActProps) {
  const { t } = ctx;
  return (
    <AccountLayout
      ctx={ctx}
      at={tab === 'membership' ? 'membership' : 'security'}
      heading={t(tab === 'membership' ? 'membership.title' : 'settings.title')}
      action
    >
      <Script ctx={ctx} entry="busy" />
      <DialogCard
        id={id}
        title={title}
        {...(lead !== undefined && { lead })}
        closeHref={tabAddress(tab)}
        closeLabel={t('common.close')}
        level="h2"
        unsent={t('common.notSent')}
      >
        <PageNotice ctx={ctx} notice={problem && toNotice(problem)} />
        {children}
      </DialogCard>
    </AccountLayout>
  );
}

interface ActButtonsProps {
  ctx: PageContext;
  /** The text of the button, or another element. */
  submit: ReactNode;
  /** The action removes something. */
  danger?: boolean;
  /** By default 'Cancel'. */
  cancel?: string;
  tab: AccountLocation;
}

/** The two buttons of an action: cancel, which closes a dialog, and submit. */
export function ActButtons({ ctx, submit, danger, cancel, tab }: ActButtonsProps) {
  return (
    <div className="actions even">
      <a className="button quiet" href={tabAddress(tab)} data-close="">
        {cancel ?? ctx.t('settings.cancel')}
      </a>
      {typeof submit === 'string' ? <Button kind={danger ? 'danger' : 'primary'}>{submit}</Button> : submit}
    </div>
  );
}
