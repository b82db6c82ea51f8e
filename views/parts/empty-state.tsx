import type { ReactNode } from 'react';

/** For an empty list: an open door, the future content, and the link to the first entry. */
export function EmptyState({ title, text, action }: { title: string; text?: string; action?: ReactNode }) {
  return (
    <div className="empty">
      <svg width="72" height="72" viewBox="0 0 60 60" fill="none" aria-hidden="true">
        <path className="arch-3" d="M4 60V30a26 26 0 0 1 52 0v30z" />
        <path className="arch-4" d="M14 60V31a16 16 0 0 1 32 0v29z" />
        <path className="arch-5" d="M22 60V32a8 8 0 0 1 16 0v28z" />
      </svg>
      <p className="empty-title">{title}</p>
      {text !== undefined && <p className="muted">{text}</p>}
      {action}
    </div>
  );
}
