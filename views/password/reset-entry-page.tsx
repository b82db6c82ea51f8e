import { Notice } from '../parts/notice.tsx';
import { RequestPage, type RequestPageProps } from './code-request-page.tsx';

/** 'Reset Your Password' in a browser that has asked for no code, or whose way is over: the way to ask for one here. */
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
