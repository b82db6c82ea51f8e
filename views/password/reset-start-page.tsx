import { DoorLayout } from '../layout/door-layout.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { RequestForm, type RequestFormProps } from './request-form.tsx';

export interface ResetStartPageProps extends RequestFormProps {
  signInHref: string;
  /** The way that was begun here is over. */
  problem?: { title: string; text: string } | undefined;
}

/** 'Reset Your Password' in a browser that has asked for no code: the way to ask for one here. */
export function ResetStartPage({ signInHref, problem, ...form }: ResetStartPageProps) {
  const { ctx } = form;
  const { t } = ctx;
  return (
    <DoorLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('password.reset.title')}</h1>
      </div>
      {problem === undefined ? (
        <Notice kind="info">{t('password.reset.startHere')}</Notice>
      ) : (
        <Notice kind="error" title={problem.title}>
          {problem.text}
        </Notice>
      )}
      <RequestForm {...form} />
      <p className="panel-foot muted">
        <a href={signInHref}>{t('password.request.remembered')}</a>
      </p>
    </DoorLayout>
  );
}
