import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The master that `npm run dev` of this package talks to. */
const master = process.env['SCANFARM_URL'] ?? 'http://127.0.0.1:8002'

export default defineConfig({
  plugins: [react()],
  // The content security policy of the master allows no data: scripts, styles or fonts.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 400 },
  server: {
    proxy: {
      '/api': { target: master, changeOrigin: true },
    },
  },
})
