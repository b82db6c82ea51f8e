import { Notice } from '../parts/notice.tsx';
import { RequestPage, type RequestPageProps } from './code-request-page.tsx';

/** 'Reset Your Password' in a browser without a flow, or with an expired one: the form to request a code here. */
export function ResetStartPage(props: RequestPageProps) {
  const { t } = props.ctx;
  return (
    <RequestPage
      {...props}
      head={<h1>{t('password.reset.title')}</h1>}
      notice={<Notice kind="info">{t('password.reset.startHere')}</Notice>}
    />
  );
}
