import { Type, type Static } from 'typebox'

const Address = Type.Union([Type.Object({ ip: Type.String() }), Type.Null()])

/** A server, as far as the farm looks at it. */
export const Server = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  status: Type.String(),
  created: Type.String(),
  labels: Type.Record(Type.String(), Type.String()),
  public_net: Type.Object({
    ipv4: Address,
    /** A network such as `2001:db8::/64`, of which the server has the address that ends in 1. */
    ipv6: Address,
  }),
  private_net: Type.Array(Type.Object({ ip: Type.String() })),
})
export type Server = Static<typeof Server>

export const OneServer = Type.Object({ server: Server })

const Paged = Type.Object({
  pagination: Type.Object({ next_page: Type.Union([Type.Integer(), Type.Null()]) }),
})

export const ServerPage = Type.Object({ servers: Type.Array(Server), meta: Paged })

/** Prices are decimals as text, in the currency of the account. */
export const TypePage = Type.Object({
  server_types: Type.Array(
    Type.Object({
      name: Type.String(),
      prices: Type.Array(
        Type.Object({ location: Type.String(), price_hourly: Type.Object({ net: Type.String() }) }),
      ),
    }),
  ),
  meta: Paged,
})
