import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

const looks = {
  error: { icon: 'alert', role: 'alert' },
  success: { icon: 'check', role: 'status' },
  info: { icon: 'info', role: undefined },
} as const;

export type NoticeKind = keyof typeof looks;

interface NoticeProps {
  kind: NoticeKind;
  /** A short title above the text. */
  title?: string | undefined;
  hidden?: boolean | undefined;
  id?: string | undefined;
  /** Buttons below the text, in the same box. */
  acts?: ReactNode;
}

/** A message about the whole page or form. Errors are announced at once (`role="alert"`). */
export function Notice({ kind, title, hidden, id, acts, children }: NoticeProps & { children: ReactNode }) {
  const { icon, role } = looks[kind];
  return (
    <div className={`notice ${kind}`} role={role} hidden={hidden} id={id}>
      <Icon name={icon} />
      <div>
        {title !== undefined && <p className="notice-title">{title}</p>}
        <p>{children}</p>
        {acts !== undefined && <div className="actions main-first">{acts}</div>}
      </div>
    </div>
  );
}
