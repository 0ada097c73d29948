import 'virtual:mantine-styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { storeTimeZone } from './account/store-time-zone.ts';
import { queryClient } from './api/query-client.ts';
import { ignoreSecondClicks } from './components/ignore-second-click.ts';
import { nonce } from './nonce.ts';
import { router } from './router.tsx';
import { language } from './texts/text.ts';
import { brandVariables, theme } from './theme.ts';

document.documentElement.lang = language;
ignoreSecondClicks();
storeTimeZone();

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no #root element');

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={brandVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
