# docker build -t build-dataset .
# docker run --rm -v "$PWD/mydata:/data" build-dataset run
FROM python:3.12-slim

# Wheels carry all native libraries, and PyMuPDF a font with Chinese: nothing of the system is needed.
WORKDIR /opt/build-dataset
COPY requirements/core.txt requirements/core.txt
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements/core.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation . \
 && useradd --create-home --uid 1000 coordinator \
 && mkdir /data && chown coordinator /data

USER coordinator
WORKDIR /data
VOLUME /data
ENTRYPOINT ["build-dataset"]
CMD ["--help"]
