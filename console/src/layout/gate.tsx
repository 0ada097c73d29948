import type { ReactNode } from 'react';
import { Brand } from './brand.tsx';

/** The layout of a page before there is an account, like that of the sign-in page. */
export function Gate({ wide = false, children }: { wide?: boolean; children: ReactNode }) {
  return (
    <div className="gate" data-wide={wide}>
      <header>
        <Brand />
      </header>
      <main>{children}</main>
    </div>
  );
}
