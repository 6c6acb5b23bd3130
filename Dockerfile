# One image for every part of Muster: the argument says which (start, api, scheduler, migrate,
# work, doctor …). Node runs the sources as they are, so there is no build stage: only what
# production needs is installed, and the root file system can be read-only.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /muster
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="muster" \
      org.opencontainers.image.description="Fleet orchestration runtime: agents claim work, keep it alive, and hand it in." \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /muster
COPY --from=dependencies /muster/node_modules ./node_modules
COPY package.json ./
COPY db ./db
COPY services ./services
# The only folder that is written to, and only by Muster alone.
RUN mkdir /data && chown 65532:65532 /data
ENV NODE_ENV=production \
    MUSTER_DATA_DIR=/data
USER 65532:65532
EXPOSE 3001 9464
VOLUME /data
ENTRYPOINT ["node", "services/cli/main.ts"]
CMD ["start"]
