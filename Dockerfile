# docker build -t build-dataset .
# docker run --rm -v "$PWD/mydata:/data" build-dataset run
FROM python:3.12-slim

# OpenMP for OpenVINO and scikit-learn; a font with Chinese is not needed: PyMuPDF brings one.
RUN apt-get update \
 && apt-get install --no-install-recommends -y libgomp1 \
 && rm -rf /var/lib/apt/lists/*

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
