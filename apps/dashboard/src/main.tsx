import './ui/tokens.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/queries.js'
import { setTheme, type Theme } from './frame/theme.js'
import { router } from './router.js'
import { readRemembered } from './ui/remembered.js'
import { listenToShortcuts } from './ui/shortcuts.js'

setTheme(readRemembered<Theme>('theme', 'system'))
listenToShortcuts()

const element = document.getElementById('root')
if (element === null) throw new Error('The page has no root')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
