import { AppError, type ErrorBody } from '@scanfarm/contracts'
import type { Headers } from './answer.ts'

/** Any thrown thing as the refusal that the caller gets; what is no refusal says nothing of the inside. */
export const refusalOf = (error: unknown): AppError => {
  if (error instanceof AppError) return error
  if (error instanceof URIError)
    return new AppError('bad_request', 'the path holds a % that is not followed by two hex digits of UTF-8')
  return new AppError('internal', 'an internal error happened; the log has it under this request_id', {
    cause: error,
  })
}

export const errorBody = (refusal: AppError, requestId: string): ErrorBody => ({
  error: true,
  message: refusal.message,
  code: refusal.code,
  request_id: requestId,
  details: [...refusal.details],
})

export const errorHeaders = (refusal: AppError): Headers => ({
  ...(refusal.code === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer realm="scanfarm"' } : {}),
  ...(refusal.retryAfter === undefined ? {} : { 'Retry-After': Math.max(1, Math.ceil(refusal.retryAfter)) }),
})
